from __future__ import annotations

import base64
import json
import signal

import pytest

from callboard.app.cli.terminal.exit_codes import work_exit_code
from tests.app.rigs.product import Product, says, uses

#: An image of one red pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")
REPORT = {"calls": [uses("Write", "I will write it.", file_path="report.md", content="# Report\n"), says("Written.")]}

EXTERNAL = """---
name: coder
description: Codes.
kind: main
provider: acp
command: [touch, started]
tools: ["*"]
policy: [Patch]
---
You code.
"""


def test_the_answer_is_on_standard_output_and_the_rest_on_standard_error(product: Product):
    """UI-06"""
    product.plays(
        {
            "calls": [
                [{"reasoning": "I should look."}, *uses("Read", "Let me look.", file_path="README.md")],
                says("It is about tides.", chunk=3),
            ]
        }
    )
    done = product.run("run", "What is this?")
    assert (done.code, done.out) == (0, "Let me look.\nIt is about tides.\n")
    assert "✓ Read" in done.err
    assert "I should look." not in done.out + done.err
    assert "completed · 2 model calls · 1 tool call" in done.err


def test_a_run_without_a_server_starts_one_until_its_end(product: Product):
    product.plays({"calls": [says("Hello.")]})
    assert product.run("run", "Hi").code == 0
    assert not (product.home / "endpoint.json").exists()
    (card,) = product.run("sessions", "--json").json
    assert (card["title"], card["state"], card["turns"]) == ("Hi", "idle", 1)


def test_a_run_uses_the_running_server(product: Product):
    product.plays({"calls": [says("Hello.")]})
    with product.up() as (_, ready):
        assert product.run("run", "Hi").out == "Hello.\n"
        facts = product.run("facts", "last", "--json").json
        assert {fact["runtimeId"].rpartition(".")[2] for fact in facts} == {str(ready["epoch"])}


def test_without_a_terminal_requests_for_approval_are_rejected(product: Product):
    """CTL-04, CTL-05"""
    done = product.plays(REPORT).run("run", "Write the report")
    assert done.code == 4
    assert not (product.folder / "report.md").exists()
    assert "no person is present to approve it" in done.err
    facts = product.run("facts", "last", "--json").json
    assert "tool.started" not in [fact["type"] for fact in facts]
    (refused,) = [fact["payload"] for fact in facts if fact["type"] == "tool.refused"]
    assert refused["code"] == "nobody_there"
    assert "The person" not in done.out + done.err + refused["message"]


@pytest.mark.parametrize("approve", ["all-edits", "all"])
def test_an_approval_policy_allows_the_call(product: Product, approve: str):
    done = product.plays(REPORT).run("run", "Write the report", "--approve", approve)
    assert (done.code, done.out) == (0, "I will write it.\nWritten.\n")
    assert (product.folder / "report.md").read_text() == "# Report\n"


def test_approving_edits_approves_no_shell_command(product: Product):
    """CTL-04"""
    product.plays({"calls": [uses("Bash", command="touch made"), says("Done.")]})
    assert product.run("run", "Touch it", "--approve", "all-edits").code == 4
    assert not (product.folder / "made").exists()


def test_a_permission_mode_that_allows_edits_needs_no_approval_for_one(product: Product):
    done = product.plays(REPORT).run("run", "Write the report", "--permission", "edits")
    assert done.code == 0
    assert (product.folder / "report.md").exists()


def test_every_fact_of_the_turn_is_a_line_of_json(product: Product):
    done = product.plays(REPORT).run("run", "Write the report", "--approve", "all", "--json")
    assert (done.code, done.err) == (0, "")
    assert [fact["sequence"] for fact in done.json] == list(range(1, len(done.json) + 1))
    assert (done.json[0]["type"], done.json[-1]["type"]) == ("session.created", "turn.completed")
    assert done.json == product.run("facts", "last", "--json").json


def test_a_continued_session_prints_only_new_facts(product: Product):
    product.plays({"calls": [says("One."), says("Two.")]})
    first = product.run("run", "First", "--json").json
    session = first[0]["sessionId"]
    second = product.run("run", "Second", "--session", "last", "--json").json
    assert [fact["sessionId"] for fact in second] == [session] * len(second)
    assert second[0]["sequence"] > first[-1]["sequence"]
    assert second[-1]["type"] == "turn.completed"


def test_a_failed_turn_prints_the_reason_and_exits_with_one(product: Product):
    product.plays({"calls": [[{"fail": {"code": "model_auth", "message": "the key is not known"}}]]})
    done = product.run("run", "Hi")
    assert (done.code, done.out) == (1, "")
    assert "model_auth: the key is not known" in done.err


def test_an_external_agent_that_no_person_could_start_exits_with_four(product: Product):
    """CTL-04: the start fails the turn, but its cause is the missing approval."""
    (product.folder / "agents").mkdir()
    (product.folder / "agents" / "coder.md").write_text(EXTERNAL)
    done = product.run("run", "Hi")
    assert (done.code, "failed (nobody_there)" in done.err) == (4, True)
    assert not (product.folder / "started").exists()


def test_an_external_agent_that_a_rule_denies_exits_with_four(product: Product):
    """CTL-05"""
    (product.folder / "agents").mkdir()
    (product.folder / "agents" / "coder.md").write_text(EXTERNAL)
    product.home.mkdir()
    rule = '[[rules]]\nmatcher = "StartAgent(touch started)"\nverdict = "deny"\n'
    (product.home / "settings.toml").write_text(rule)
    done = product.run("run", "Hi", "--approve", "all")
    assert (done.code, "failed (rule_denied)" in done.err) == (4, True)


@pytest.mark.parametrize(
    ("state", "cause", "unapproved", "by_hand", "code"),
    [
        ("completed", "", 0, False, 0),
        ("completed", "", 1, False, 4),
        ("failed", "model_auth", 0, False, 1),
        ("failed", "model_refused_request", 1, False, 4),
        ("failed", "approval_expired", 0, False, 4),
        ("failed", "person_denied", 0, False, 4),
        ("interrupted", "storage", 0, False, 1),
        ("interrupted", "crash", 0, False, 3),
        ("interrupted", "person", 0, False, 3),
        ("interrupted", "person", 0, True, 130),
        ("cancelled", "", 0, False, 3),
    ],
)
def test_each_end_of_work_has_one_exit_code(state: str, cause: str, unapproved: int, by_hand: bool, code: int):
    """R1: turns and jobs share one table."""
    assert work_exit_code(state, cause=cause, unapproved=unapproved, by_hand=by_hand) == code


def test_a_retried_model_call_prints_the_reason_and_the_wait(product: Product):
    fails = {"fail": {"code": "model_unavailable", "message": "overloaded", "retryable": True, "retry_after": 0.1}}
    product.plays({"calls": [[fails | {"fail": fails["fail"] | {"attempts": 2}}, {"text": "Hello."}]]})
    done = product.run("run", "Hi")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "! overloaded Attempt 2 in 0.1 s." in done.err
    assert "! overloaded Attempt 3 in 0.1 s." in done.err


def test_ctrl_c_stops_the_turn_and_keeps_its_text(product: Product):
    """COM-10"""
    product.plays({"calls": [[{"text": "so far"}, {"wait_for": "never"}]]})
    with product.started("run", "Go", "--json") as running:
        running.milestone("model.requested")
        running.signal(signal.SIGINT)
        rest = [json.loads(line) for line in running.rest()]
        assert running.wait() == 130
    assert [fact["type"] for fact in rest][-1] == "turn.interrupted"
    assert rest[-1]["payload"]["cause"] == "person"


def test_a_turn_stopped_from_elsewhere_exits_with_three(product: Product):
    product.plays({"calls": [[{"text": "so far"}, {"wait_for": "never"}]]})
    with product.up(), product.started("run", "Go", "--json") as running:
        session = running.milestone("model.requested")["sessionId"]
        product.plays({"calls": [says("Other.")]})
        with product.started("run", "Other", "--session", session, "--when-busy", "interrupt") as other:
            assert running.wait() == 3
            other.close()


def test_a_busy_session_refuses_with_when_busy_reject(product: Product):
    """CTL-03"""
    product.plays({"calls": [[{"text": "so far"}, {"wait_for": "never"}]]})
    with product.up(), product.started("run", "Go", "--json") as running:
        running.milestone("model.requested")
        done = product.run("run", "Other", "--session", "last", "--when-busy", "refuse")
        assert done.code == 4
        assert done.err.startswith("thread_busy: ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run"], "invalid_input"),
        (["run", "Hi", "--mode", "loud"], "invalid_input"),
        (["run", "Hi", "--approve", "ask"], "invalid_input"),
        (["run", ""], "invalid_input"),
        (["run", " \n\t "], "invalid_input"),
        (["run", "-"], "invalid_input"),
        (["run", "Hi", "--session", "ses_none"], "unknown_session"),
        (["run", "Hi", "--session", "last"], "unknown_session"),
        (["facts", "ses_none"], "unknown_session"),
        (["sing"], "invalid_input"),
    ],
)
def test_an_invalid_request_prints_one_error_and_exits_with_two(product: Product, arguments: list[str], code: str):
    """SAFE-05"""
    done = product.run(*arguments, "--json")
    assert (done.code, done.out) == (2, "")
    assert json.loads(done.err)["code"] == code
    assert "Traceback" not in done.err


def test_a_prompt_is_read_from_standard_input(product: Product):
    product.plays({"match": [{"text": "from a file", "calls": [says("Read.")]}]})
    assert product.run("run", "-", stdin="A prompt from a file\n").out == "Read.\n"


def test_without_a_model_a_run_searches_and_reports_it(product: Product):
    done = product.run("run", "Where is the gauge read?")
    assert done.code == 0
    assert "tidewatch/readings.py:1" in done.out
    assert done.out.startswith("No model is configured, so this is a search")


def test_files_are_attached_to_the_prompt(product: Product):
    """CTX-01"""
    product.plays({"calls": [says("Read.")]})
    (product.folder / "notes.md").write_text("Buy milk.\n")
    assert product.run("run", "Read it", "--file", str(product.folder / "notes.md")).out == "Read.\n"
    (submitted,) = [fact for fact in product.run("facts", "last", "--json").json if fact["type"] == "turn.submitted"]
    assert [(attachment["kind"], attachment["source"]) for attachment in submitted["payload"]["given"]] == [
        ("text", "attached")
    ]


def test_an_image_that_no_model_accepts_is_refused_before_sending(product: Product):
    """M5"""
    product.plays({"calls": [says("Hello.")]})
    image = product.folder / "dot.png"
    image.write_bytes(PNG)
    done = product.run("run", "Look", "--file", str(image))
    assert done.code != 0
    assert "images_unsupported" in done.err
    assert "scenario/scenario takes no images: dot.png" in done.err
    assert "Remove the image, or choose a model that takes images." in done.err
    assert product.run("sessions", "--json").json == []


def test_an_unreadable_file_is_refused_before_sending(product: Product):
    done = product.run("run", "Look", "--file", str(product.folder / "nowhere.png"))
    assert done.code != 0
    assert "nowhere.png cannot be read: No such file or directory." in done.err
    assert product.run("sessions", "--json").json == []
