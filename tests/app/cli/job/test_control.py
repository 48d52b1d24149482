"""Jobs in the terminal that are paused, cancelled or left, and how they continue."""

from __future__ import annotations

import json
import re
import signal

from tests.app.rigs.jobs import ALPHA, REFUSED, RESUMED, START, create_session, report_call, statuses, worker_turn
from tests.app.rigs.product import Product, says

NEVER = worker_turn("beta", [{"wait_for": "never"}])


def test_a_job_that_another_terminal_cancels_ends_with_three(product: Product):
    """CTL-11: finished items stay finished."""
    session = create_session(product, ALPHA, NEVER)
    with product.up(), product.started(*START, "gamma") as running:
        assert [running.line() for _ in range(3)][-1] == "+ 2 beta: started (worker-2)"
        cancelled = product.run("job", "cancel", "last", "--reason", "enough")
        assert cancelled.code == 0
        assert re.search(r"cancell(ing|ed) +1 of 3 done", cancelled.out)
        assert sorted(running.rest()) == ["Cancelling (enough).", "■ 2 beta: cancelled", "■ 3 gamma: cancelled"]
        assert running.wait() == 3
    assert re.fullmatch(
        rf"cancelled · 1 of 3 done, 2 cancelled · callboard job show {session} job_\w+", running.errors[-1]
    )
    assert statuses(product) == ("cancelled", ["completed", "cancelled", "cancelled"])


def test_a_job_that_another_terminal_pauses_ends_with_three_and_can_be_resumed(product: Product):
    create_session(product, ALPHA, NEVER, worker_turn(RESUMED, says("Beta is fine.")))
    with product.up():
        with product.started(*START) as running:
            assert [running.line() for _ in range(3)][-1] == "+ 2 beta: started (worker-2)"
            assert product.run("job", "pause", "last").code == 0
            assert (running.rest(), running.wait()) == (["Paused."], 3)
        assert statuses(product) == ("paused", ["completed", "paused"])
        again = product.run("job", "pause", "last")
        assert (again.code, again.err.splitlines()) == (
            4,
            ["task_paused: The job is already paused. [JOB]", "`callboard job resume SESSION` continues it."],
        )
        done = product.run("job", "resume", "last")
        assert (done.code, done.out.splitlines()) == (0, ["Resumed.", "✓ 2 beta: Beta is fine."])


def test_ctrl_c_pauses_the_job_and_resume_continues_it(product: Product):
    """COM-10"""
    create_session(product, ALPHA, NEVER, worker_turn(RESUMED, says("Beta is fine.")))
    with product.started(*START) as running:
        assert [running.line() for _ in range(3)][-1] == "+ 2 beta: started (worker-2)"
        running.signal(signal.SIGINT)
        assert (running.rest(), running.wait()) == (["Paused (Ctrl-C in the terminal)."], 130)
    assert running.errors[1] == "Pausing the job. Ctrl-C again exits immediately."
    assert "callboard job resume" in running.errors[-1]
    assert statuses(product) == ("paused", ["completed", "paused"])
    done = product.run("job", "resume", "last")
    assert (done.code, done.out.splitlines()) == (0, ["Resumed.", "✓ 2 beta: Beta is fine."])


def test_a_job_of_a_killed_process_continues_with_the_rest(product: Product):
    """CTL-11"""
    create_session(product, ALPHA, NEVER, worker_turn(RESUMED, says("Beta is fine.")))
    with product.started(*START) as running:
        assert [running.line() for _ in range(3)][-1] == "+ 2 beta: started (worker-2)"
        running.signal(signal.SIGKILL)
        running.wait()
    assert statuses(product) == ("paused", ["completed", "paused"])
    done = product.run("job", "resume", "last")
    assert (done.code, done.out.splitlines()[-1]) == (0, "✓ 2 beta: Beta is fine.")
    assert "alpha" not in done.out


def test_a_person_is_asked_and_ctrl_c_while_it_asks_pauses_the_job_and_approves_nothing(product: Product):
    """CTL-04, UI-09"""
    written = says("It is written.")
    create_session(product, *(worker_turn(name, report_call(f"{name}.md"), written) for name in ("alpha", "beta")))
    with product.terminal(*START) as terminal:
        assert "+# Report" in terminal.until("[a]pprove once")
        terminal.send("a\n")
        terminal.until("1 alpha: It is written.")
        terminal.until("[a]pprove once")
        terminal.send("\x03")
        terminal.until("Pausing the job")
        terminal.until("callboard job resume")
        assert terminal.wait() == 130
    assert [(product.folder / f"{name}.md").exists() for name in ("alpha", "beta")] == [True, False]
    assert statuses(product) == ("paused", ["completed", "paused"])


def test_a_job_that_only_waits_for_an_answer_is_joined_by_another_terminal(product: Product):
    """CTL-04, REC-01: a request of a killed process is asked again."""
    create_session(product, worker_turn("alpha", report_call("alpha.md"), says("It is written.")))
    with product.terminal("job", "start", "Look", "alpha", "--session", "last") as terminal:
        terminal.until("[a]pprove once")
        terminal.process.kill()
        terminal.wait()
    with product.terminal("job", "resume", "last") as terminal:
        terminal.until("[a]pprove once")
        terminal.send("a\n")
        terminal.until("1 alpha: It is written.")
        assert terminal.wait() == 0
    assert statuses(product) == ("completed", ["completed"])


def test_a_terminal_of_an_ended_host_names_the_command_that_continues_the_job(product: Product):
    session = create_session(product, NEVER)
    with product.up() as (up, _), product.started("job", "start", "Look", "beta", "--session", "last") as running:
        assert running.line() == "+ 1 beta: started (worker-1)"
        up.signal(signal.SIGKILL)
        up.wait()
        assert (running.rest(), running.wait()) == ([], 3)
    job = running.errors[0].split()[0]
    assert running.errors[-1] == f"The process that ran the job ended. callboard job resume {session} {job}"
    assert statuses(product) == ("paused", ["paused"])


def test_with_several_open_jobs_the_job_must_be_named(product: Product):
    create_session(product, worker_turn("alpha", REFUSED))
    with product.up():
        jobs = [product.run("job", "start", "Look", "alpha", "--session", "last").err.split()[0] for _ in range(2)]
        done = product.run("job", "cancel", "last", "--json")
        assert (done.code, json.loads(done.err)) == (
            2,
            {
                "code": "invalid_input",
                "message": "2 jobs are open.",
                "field": "JOB",
                "hint": f"Name one: {jobs[1]}, {jobs[0]}.",
            },
        )
        cancelled = product.run("job", "cancel", "last", jobs[0])
        assert (cancelled.code, cancelled.out) == (0, f"{jobs[0]}  cancelled   0 of 1 done, 1 failed  Look\n")
        assert product.run("job", "cancel", "last").out.startswith(f"{jobs[1]}  cancelled ")
