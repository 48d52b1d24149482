"""Jobs in the terminal: started, followed, resumed."""

from __future__ import annotations

import pytest

from tests.app.rigs.jobs import (
    ALPHA,
    REFUSED,
    RETRIED,
    START,
    create_session,
    play_for_workers,
    report_call,
    worker_turn,
)
from tests.app.rigs.product import Product, says

BETA = worker_turn("beta", says("Beta is fine."))


def test_a_job_is_followed_item_by_item_to_its_end(product: Product):
    """CTL-11"""
    session = create_session(product, ALPHA, BETA)
    done = product.run(*START)
    assert done.code == 0
    assert done.out.splitlines() == [
        "+ 1 alpha: started (worker-1)",
        "✓ 1 alpha: Alpha is fine. Quite.",
        "+ 2 beta: started (worker-2)",
        "✓ 2 beta: Beta is fine.",
    ]
    job = done.err.split()[0]
    assert done.err.splitlines() == [
        f"{job} · 2 items · {session}",
        f"completed · 2 of 2 done · callboard job show {session} {job}",
    ]
    listing = product.run("job", "show", session, job)
    assert listing.out.splitlines() == [
        f"{job}  completed   2 of 2 done  Look at this.",
        "  ✓ 1 alpha: Alpha is fine. Quite.",
        "  ✓ 2 beta: Beta is fine.",
    ]
    assert product.run("job", "list", "last").out == f"{job}  completed   2 of 2 done  Look at this.\n"


def test_items_come_from_a_file_or_from_standard_input(product: Product):
    create_session(product, ALPHA, BETA)
    (product.folder / "items.txt").write_bytes("\ufeffalpha\r\n\r\n".encode())
    done = product.run("job", "start", "Look", "--items", "items.txt", "--session", "last", "--title", "From a file")
    assert (done.code, done.out.splitlines()[-1]) == (0, "✓ 1 alpha: Alpha is fine. Quite.")
    done = product.run("job", "start", "Look", "alpha", "--items", "-", "--session", "last", stdin="\n  beta \n\n")
    assert done.code == 0
    listed = [(job["title"], [item["title"] for item in job["items"]]) for job in _listed(product)]
    assert listed == [("Look", ["alpha", "beta"]), ("From a file", ["alpha"])]


def test_a_job_needs_neither_a_session_nor_agent_files(product: Product):
    """The only subagent of the packaged team works on each item, in a new session."""
    product.plays({"match": [ALPHA, BETA]})
    done = product.run("job", "start", "Look at this.", "alpha", "beta", "--parallel", "1")
    assert (done.code, done.out.splitlines()) == (
        0,
        [
            "+ 1 alpha: started (worker-1)",
            "✓ 1 alpha: Alpha is fine. Quite.",
            "+ 2 beta: started (worker-2)",
            "✓ 2 beta: Beta is fine.",
        ],
    )
    assert product.run("sessions").out.count("Look at this.") == 1
    _, _, session = done.err.splitlines()[0].split(" · ")
    assert product.run("job", "show", session).out.splitlines()[0].split()[1:] == [
        "completed",
        "2",
        "of",
        "2",
        "done",
        "Look",
        "at",
        "this.",
    ]


def test_a_job_warns_of_untrusted_requests(product: Product):
    """SAFE-08: as for a turn. The workers run in the effective mode."""
    product.plays({"match": [ALPHA]})
    own = product.folder / ".callboard"
    own.mkdir()
    (own / "settings.toml").write_text('permission_mode = "full"\n')
    done = product.run("job", "start", "Look at this.", "alpha")
    assert (done.code, done.err.splitlines()[0]) == (0, product.run("run", "Hi").err.splitlines()[0])
    assert "callboard trust" in done.err.splitlines()[0]


def _listed(product: Product) -> list[dict[str, list[dict[str, str]]]]:
    return product.run("job", "list", "last", "--json").json


def test_retry_repeats_failed_items_only(product: Product):
    """CTL-11"""
    session = create_session(
        product, ALPHA, worker_turn(RETRIED, says("Beta is fine now.")), worker_turn("beta", REFUSED)
    )
    done = product.run(*START)
    job = done.err.split()[0]
    assert (done.code, done.out.splitlines()[-1]) == (1, "✗ 2 beta: model_auth: the key is not known")
    assert done.err.splitlines()[-1] == f"failed · 1 of 2 done, 1 failed · callboard job retry {session} {job}"
    assert product.run("job", "show", "last").out.splitlines()[1:] == [
        "  ✓ 1 alpha: Alpha is fine. Quite.",
        "  ✗ 2 beta: the key is not known",
    ]

    play_for_workers(product, worker_turn(RETRIED, says("Beta is fine now.")))
    done = product.run("job", "retry", "last", job, "2")
    assert (done.code, done.out.splitlines()) == (
        0,
        ["+ 2 beta: started again, attempt 2 (worker-2)", "✓ 2 beta: Beta is fine now."],
    )
    facts = product.run("facts", "last", "--json").json
    ends = [fact["taskId"] for fact in facts if fact["type"] == "task.completed" and fact.get("jobId") == job]
    assert len(ends) == len(set(ends)) == 3, "both items and the job, once each"


def test_every_fact_after_the_command_is_a_json_line(product: Product):
    create_session(product, ALPHA, BETA)
    before = product.run("facts", "last", "--json").json
    done = product.run(*START, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json[0]["sequence"] == before[-1]["sequence"] + 1
    assert (done.json[1]["type"], done.json[-1]["type"]) == ("job.created", "task.completed")
    assert done.json[-1]["taskId"] == done.json[0]["taskId"]
    (read,) = product.run("job", "show", "last", "--json").json
    assert (read["status"], read["counts"]["completed"]) == ("completed", 2)


@pytest.mark.parametrize(("approve", "code", "written"), [("all-edits", 0, True), ("none", 4, False)])
def test_the_approval_policy_answers_requests_of_workers(product: Product, approve: str, code: int, written: bool):
    """CTL-04"""
    create_session(product, worker_turn("alpha", report_call("alpha.md"), says("Alpha is written.")))
    done = product.run("job", "start", "Look", "alpha", "--session", "last", "--approve", approve)
    assert (done.code, (product.folder / "alpha.md").exists()) == (code, written)
    assert "worker-1: Create alpha.md" in done.err


def test_the_approval_policy_ignores_requests_of_other_agents(product: Product):
    """CTL-04: without a person, a job rejects requests of its workers and no others."""
    create_session(product, ALPHA)
    with product.up(), product.terminal("run", "Write the report", "--session", "last") as terminal:
        terminal.until("[a]pprove once")
        assert product.run("job", "start", "Look", "alpha", "--session", "last", "--approve", "none").code == 0
        terminal.send("a\n")
        terminal.until("Written.")
        assert terminal.wait() == 0
    assert (product.folder / "report.md").exists()
