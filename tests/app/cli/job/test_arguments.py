"""Refusals of `callboard job`, and the formatting of items."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest

from callboard.app.cli.job.arguments import read_items
from callboard.app.cli.job.formatter import JobEvents, format_counts, format_item
from callboard.app.cli.terminal.output import Style
from callboard.contracts.commands.job import JobItem
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.task import TaskCompleted
from callboard.contracts.rows.task import JobItems
from tests.app.rigs.jobs import REFUSED, create_session, worker_turn
from tests.app.rigs.product import Product, says

NAME_ITEMS = "Name items after the instructions, or a file with one per line: --items FILE."
A_FILE = "Name a text file with one item per line, or - for standard input."


@pytest.mark.parametrize(
    ("arguments", "stdin", "messages"),
    [
        (["Look", "--session", "last"], "", ["There are no items. [ITEM]", NAME_ITEMS]),
        (
            ["Look", "--items", "-", "--session", "last"],
            "\n  \n",
            ["No items in standard input. [ITEM]", NAME_ITEMS],
        ),
        (
            ["Look", "alpha", " ", "--session", "last"],
            "",
            ["An item is empty. [ITEM]", "Remove it, or name the thing to work on."],
        ),
        (
            ["Look", "--items", "-", "--session", "last"],
            "alpha\n" * 501,
            ["There are 501 items; a job has at most 500. [ITEM]", "Start several jobs."],
        ),
        (
            ["Look", "alpha", "b" * 200_001, "--session", "last"],
            "",
            [
                "Item 2 has 200,001 characters; the maximum is 8,192. [ITEM]",
                "Write it to a file, and name the file.",
            ],
        ),
        (
            ["Look", "--items", "none.txt", "--session", "last"],
            "",
            ["none.txt cannot be read: No such file or directory. [--items]", A_FILE],
        ),
        (
            [" ", "alpha", "--session", "last"],
            "",
            ["The instructions are empty. [INSTRUCTIONS]", "Describe the task for each item."],
        ),
        (
            ["Look", "alpha", "--session", "last", "--title", "t" * 201],
            "",
            ["The title has 201 characters. [--title]", "Use at most 200."],
        ),
        (
            ["Look", "alpha", "--session", "last", "--approve", "ask"],
            "",
            ["`ask` needs a terminal. [--approve]", "Use --approve none, all-edits or all."],
        ),
    ],
)
def test_an_invalid_job_is_refused_with_what_to_do(
    product: Product, arguments: list[str], stdin: str, messages: list[str]
):
    """SAFE-05"""
    done = product.run("job", "start", *arguments, stdin=stdin)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [f"invalid_input: {messages[0]}", *messages[1:]]
    assert not product.home.exists(), "nothing was made"


def test_a_file_that_is_not_text_has_no_items(tmp_path: Path):
    path = tmp_path / "items"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Refusal) as refused:
        read_items((), str(path))
    assert (refused.value.code, refused.value.problem.message) == ("invalid_input", f"{path} is not UTF-8 text.")


def test_without_a_session_there_is_no_job(product: Product):
    for arguments in (["show", "last"], ["start", "Look", "alpha", "--session", "last"]):
        done = product.run("job", *arguments)
        assert (done.code, done.err.splitlines()) == (
            2,
            ["unknown_session: There is no session yet.", '`callboard run "PROMPT"` creates one.'],
        )


def test_a_refused_job_command_names_the_argument(product: Product):
    """SAFE-05"""
    create_session(product, worker_turn("alpha", says("Fine.")), worker_turn("beta", REFUSED))
    with product.up():
        assert (
            product.run("job", "list", "last").err == "This session has no jobs. `callboard job start` creates one.\n"
        )
        assert _refused(product, "show", "last") == [
            2,
            "unknown_job: The session has no job. [JOB]",
            "`callboard job list SESSION` lists the jobs.",
        ]
        assert _refused(product, "start", "Look", "alpha", "--session", "last", "--agent", "ghost") == [
            2,
            "unknown_agent: There is no definition ghost. [--agent]",
            "There are: lead, worker.",
        ]
        assert _refused(product, "start", "Look", "alpha", "--session", "last", "--agent", "lead") == [
            4,
            "delegate_target_denied: lead is of kind main, and only subagents accept delegated work. [--agent]",
            "Send it a message, or hand off to it.",
        ]
        job = product.run("job", "start", "Look", "alpha", "beta", "--session", "last").err.split()[0]
        assert _refused(product, "cancel", "last", "job_none") == [
            2,
            "unknown_job: The session has no job job_none. [JOB]",
            "`callboard job list SESSION` lists the jobs.",
        ]
        assert _refused(product, "show", job) == [
            2,
            f"invalid_input: {job} is a job id; the session comes first. [SESSION]",
            f"For the newest session, write `last {job}`.",
        ]
        assert _refused(product, "resume", "last") == [
            4,
            "task_not_paused: The job is failed, not paused. [JOB]",
            "`callboard job retry` retries failed items.",
        ]
        assert _refused(product, "retry", "last", job, "3") == [
            2,
            "unknown_task: The job has no item 3. [ITEM]",
            "Its items are 1 to 2.",
        ]
        assert _refused(product, "retry", "last", job, "1")[2:] == ["`callboard job show SESSION` shows its result."]


def _refused(product: Product, *arguments: str) -> list[int | str]:
    done = product.run("job", *arguments)
    assert done.out == ""
    return [done.code, *done.err.splitlines()]


def test_job_without_a_verb_prints_all_verbs(product: Product):
    done = product.run("job")
    assert done.code == 0
    for verb in ("start", "list", "show", "cancel", "pause", "resume", "retry"):
        assert f"\n  {verb} " in done.out
        assert product.run("job", verb, "--help").code == 0


def test_the_state_of_an_item_is_one_line():
    style = Style(io.StringIO())
    item = JobItem(item_id="tsk_1", title="alpha\x1b[2J", status="waiting")

    def line(**changes: object) -> str:
        return format_item(3, msgspec.structs.replace(item, **changes), style, 60)

    assert line() == "  · 3 alpha: waiting"
    assert line(status="running", agent_id="worker-1") == "  · 3 alpha: running (worker-1)"
    assert line(status="paused") == "  · 3 alpha: paused"
    assert line(status="cancelling") == "  · 3 alpha: cancelling"
    assert line(status="cancelled") == "  ■ 3 alpha: cancelled"
    assert line(status="completed", output="It is\nfine.") == "  ✓ 3 alpha: It is fine."
    assert line(status="completed") == "  ✓ 3 alpha"
    assert line(status="failed", problem="no", attempts=2) == "  ✗ 3 alpha: no (2 attempts)"
    assert line(status="completed", output="x" * 99) == f"  ✓ 3 alpha: {'x' * 50}…"


def test_zero_counts_are_omitted():
    assert format_counts(JobItems(completed=3)) == "3 of 3 done"
    assert format_counts(JobItems(waiting=1, running=2, failed=3, completed=4, cancelled=5)) == (
        "4 of 15 done, 3 failed, 2 running, 1 waiting, 5 cancelled"
    )


@pytest.mark.parametrize(("plain", "line"), [(True, "✓ 1 A: (plain text, not finalized) Ok."), (False, "✓ 1 A: Ok.")])
def test_m3_a_plain_text_result_of_an_item_is_marked(plain: bool, line: str):
    style = Style(io.StringIO())
    item = JobItem(item_id="tsk_1", title="A", status="completed", output="Ok.", plain_text=plain)
    assert format_item(1, item, style, 200).strip() == line
    assert (
        JobEvents((item,), {}, style, 200).apply_item_event("tsk_1", TaskCompleted(summary="Ok.", plain_text=plain))
        == line
    )
