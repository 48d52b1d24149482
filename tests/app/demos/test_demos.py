"""The demos in the real product without delays, and `callboard demo`."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.app.cli.terminal.loop import run_async
from callboard.app.demos.demo_catalog import NAMES, copy_folder
from callboard.app.hosting.announcement import find_endpoint
from callboard.app.state_folder import StateFolder
from callboard.client import Client
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.base import Command
from callboard.contracts.commands.exchange.handoff import RespondHandoff
from callboard.contracts.commands.task import CancelTask, PauseTask, ResumeTask
from callboard.contracts.facts.action import Decision
from tests.app.rigs.product import PATIENCE, Product, says


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path, {"CALLBOARD_DEMO_PACE": "0"})


def submit_command(product: Product, command: Command) -> Any:
    """Submit a person's command to the running Callboard. Return the answer."""

    async def give() -> Any:
        endpoint = await find_endpoint(StateFolder(product.home))
        assert endpoint is not None
        async with Client(endpoint) as client:
            return await client.submit(command)

    return run_async(give())


def run_demo(
    product: Product, name: str, decision: Decision = "approve", code: int = 0
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run a demo and give each request this decision. Return its `started` milestone and all its
    facts.
    """
    with product.started("demo", name, "--json") as running:
        started = running.milestone("started")
        facts: list[dict[str, Any]] = []
        while (line := running.line()) is not None:
            facts.append(json.loads(line))
            if facts[-1]["type"] == "action.required":
                action = facts[-1]["actionId"]
                submit_command(
                    product, RespondAction(session_id=started["sessionId"], action_id=action, decision=decision)
                )
        assert (running.wait(), running.errors) == (code, [])
    assert [fact["sequence"] for fact in facts] == list(range(1, len(facts) + 1))
    return started, facts


def payloads_of(facts: list[dict[str, Any]], kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the facts of a type, as agent and payload."""
    return [(fact.get("agentId", ""), fact.get("payload", {})) for fact in facts if fact["type"] == kind]


def agents_of(facts: list[dict[str, Any]], kind: str) -> list[str]:
    return [agent for agent, _ in payloads_of(facts, kind)]


def check_success(facts: list[dict[str, Any]]) -> None:
    """Check that nothing failed or was refused, that the script was the only model, and that every
    turn completed.
    """
    for kind in ("turn.failed", "tool.failed", "tool.refused", "subagent.failed", "task.failed", "thread.paused"):
        assert payloads_of(facts, kind) == []
    assert {(payload["provider"]) for _, payload in payloads_of(facts, "model.requested")} == {"scripted"}
    assert len(payloads_of(facts, "turn.submitted")) == len(payloads_of(facts, "turn.completed"))


def test_one_agent_fixes_a_failing_test_after_one_approval(product: Product):
    started, facts = run_demo(product, "solo_run")
    check_success(facts)
    assert [payload["tool"] for _, payload in payloads_of(facts, "action.required")] == ["Bash"]
    assert [payload["decision"] for _, payload in payloads_of(facts, "action.resolved")] == ["approve"]
    ran = [payload for _, payload in payloads_of(facts, "tool.completed") if "exitCode" in payload]
    assert [payload["exitCode"] for payload in ran] == [0]
    assert "unicodedata.normalize" in (Path(started["folder"]) / "slugs.py").read_text()


def test_an_agent_without_permission_to_run_the_tests_does_not_claim_a_run(product: Product):
    _, facts = run_demo(product, "solo_run", "reject")
    assert [payload["code"] for _, payload in payloads_of(facts, "tool.refused")] == ["person_denied"]
    (answer,) = [payload["content"]["text"] for _, payload in payloads_of(facts, "message.text")][-1:]
    assert "The tests did not run" in answer
    assert "were run" not in answer


def test_a_builder_without_permission_to_run_the_program_reports_it(product: Product):
    _, facts = run_demo(product, "coordinator_team", "reject")
    assert [payload["code"] for _, payload in payloads_of(facts, "tool.refused")] == ["person_denied"]
    (request,) = [
        json.dumps(payload) for agent, payload in payloads_of(facts, "tool.requested") if agent == "builder-1"
    ][-1:]
    assert "The command did not finish" in request
    assert "I ran" not in request


def test_a_coordinator_delegates_and_names_the_asking_agent(product: Product):
    started, facts = run_demo(product, "coordinator_team")
    check_success(facts)
    assert agents_of(facts, "subagent.completed") == ["researcher-1", "builder-1"]
    assert payloads_of(facts, "action.required")[0][0] == "builder-1"
    assert [payload["actionType"] for _, payload in payloads_of(facts, "action.required")] == ["delegated_permission"]
    folder = Path(started["folder"])
    assert "--limit" not in (folder / "README.md").read_text() + (folder / "docs" / "weekly.md").read_text()
    assert '"--max"' in (folder / "pantry.py").read_text()
    assert (folder / "stock.csv").read_text().count("\n") == 6


def test_workers_write_each_their_own_file(product: Product):
    started, facts = run_demo(product, "parallel_workers")
    check_success(facts)
    assert sorted(agents_of(facts, "subagent.completed")) == ["translator-1", "translator-2", "translator-3"]
    assert [payload["workGlobs"] for _, payload in payloads_of(facts, "subagent.spawned")] == [
        [f"strings/{language}.json"] for language in ("fr", "es", "it")
    ]
    strings = Path(started["folder"]) / "strings"
    keys = json.loads((strings / "en.json").read_text()).keys()
    for language in ("de", "fr", "es", "it"):
        assert json.loads((strings / f"{language}.json").read_text()).keys() == keys


def test_a_specialist_accepts_the_work_and_returns_it(product: Product):
    started, facts = run_demo(product, "specialist_handoff")
    check_success(facts)
    assert [(payload["source"], payload["target"]) for _, payload in payloads_of(facts, "handoff.requested")] == [
        ("generalist", "database"),
        ("database", "generalist"),
    ]
    assert [(payload["source"], payload["target"]) for _, payload in payloads_of(facts, "handoff.accepted")] == [
        ("generalist", "database"),
        ("database", "generalist"),
    ]
    assert [payload["end"] for _, payload in payloads_of(facts, "handoff.reply.ended")] == ["answered"]
    folder = Path(started["folder"])
    assert "CREATE INDEX" in (folder / "migrations" / "002_orders_of_customer.sql").read_text()
    assert "LIMIT 20" in (folder / "orders.py").read_text()
    assert "002_orders_of_customer.sql" in (folder / "CHANGELOG.md").read_text()


def test_a_change_is_sent_back_once_and_then_passed(product: Product):
    started, facts = run_demo(product, "review_team")
    check_success(facts)
    assert [(payload["target"], payload["verdict"]) for _, payload in payloads_of(facts, "review.verdict")] == [
        ("author-1", "changes_requested"),
        ("author-1", "passed"),
    ]
    assert agents_of(facts, "subagent.completed") == ["reviewer-1", "author-1"]
    code: dict[str, Any] = {}
    exec((Path(started["folder"]) / "invoices.py").read_text(), code)
    assert code["tax"]([code["Line"]("paper", 150), code["Line"]("ink", 150)]) == 20


def test_a_board_leaves_the_decision_to_the_person(product: Product):
    """The person accepts the handoff and gives the name. Then its task is done, with the person's
    text.
    """
    with product.up():
        started, facts = run_demo(product, "human_agent_board")
        check_success(facts)
        handoff = next(fact["handoffId"] for fact in facts if fact["type"] == "handoff.requested")
        done = [fact["taskId"] for fact in facts if fact["type"] == "task.completed"]
        board = [fact["taskId"] for fact in facts if fact["type"] == "task.created" and not fact.get("turnId")]
        named, noted, last = (task for task in board if not _is_child_task(facts, task))
        assert noted in done
        assert not {named, last} & {*done}
        notes = Path(started["folder"]) / "NOTES.md"
        assert "Lighthouse" not in notes.read_text()
        session = started["sessionId"]
        submit_command(product, RespondHandoff(session_id=session, handoff_id=handoff, decision="accept"))
        submit_command(product, RespondHandoff(session_id=session, handoff_id=handoff, decision="complete"))
        prompt = "Call it Lighthouse"
        assert product.run("run", prompt, "--session", session, "--permission", "edits").code == 0
        facts = product.run("facts", session, "--json").json
        check_success(facts)
        assert {named, noted, last} <= {fact["taskId"] for fact in facts if fact["type"] == "task.completed"}
        assert prompt in notes.read_text()


def test_a_board_does_not_claim_an_unapproved_change(product: Product):
    with product.up():
        started, _ = run_demo(product, "human_agent_board")
        session = started["sessionId"]
        answered = product.run("run", "Call it Lighthouse", "--session", session, "--permission", "ask")
        facts = product.run("facts", session, "--json").json
        assert "Lighthouse" not in (Path(started["folder"]) / "NOTES.md").read_text()
        assert "`NOTES.md` was not changed" in answered.out
        assert [payload.get("status") for _, payload in payloads_of(facts, "task.updated")][-1] == "blocked"


def test_a_watcher_sleeps_wakes_automatically_reports_and_sleeps_again(product: Product):
    """UI-22: the reasons of its wakes, its runs as attempts of one task, and a final sleep that a
    person pauses and ends.
    """
    with product.up():
        started, facts = run_demo(product, "background_teammate")
        check_success(facts)
        assert [payload["reason"] for _, payload in payloads_of(facts, "agent.woke")] == ["inbox", "fact", "fact"]
        (job,) = {fact["taskId"] for fact in facts if fact["type"] == "task.started"}
        attempts = [fact["attemptId"] for fact in facts if fact["type"] == "task.started"]
        assert attempts == [f"{job}.{number}" for number in (1, 2, 3)]
        slept = [payload for _, payload in payloads_of(facts, "agent.slept")]
        assert [payload["reason"] for payload in slept] == ["joined", "ran", "ran", "ran"]
        assert (slept[-1]["schedule"], facts[-1]["type"]) == ("every 1800 s", "agent.slept")
        folder = Path(started["folder"])
        orders = [int(line.partition(",")[2]) for line in (folder / "orders.csv").read_text().split()[1:]]
        assert f"Total: {sum(orders)}\n" in (folder / "summary.md").read_text()

        session = started["sessionId"]
        submit_command(product, PauseTask(session_id=session, task_id=job))
        submit_command(product, ResumeTask(session_id=session, task_id=job))
        submit_command(product, CancelTask(session_id=session, task_id=job, reason="seen enough"))
        facts = product.run("facts", session, "--json").json[len(facts) :]
        assert [fact["type"] for fact in facts if not fact["type"].startswith("snapshot")] == [
            "task.paused",
            "task.resumed",
            "agent.slept",
            "task.cancel.requested",
            "task.cancelled",
            "agent.slept",
        ]
        assert [payload["reason"] for _, payload in payloads_of(facts, "agent.slept")] == ["resumed", "ended"]


def _is_child_task(facts: list[dict[str, Any]], task: str) -> bool:
    return any(fact["type"] == "subagent.spawned" and fact["taskId"] == task for fact in facts)


def test_the_demos_are_listed_for_people_and_for_scripts(product: Product):
    listed = product.run("demo", "--list", "--json")
    assert (listed.code, listed.err) == (0, "")
    assert [payload["name"] for payload in listed.json] == list(NAMES)
    printed = product.run("demo")
    assert all(payload["title"] in printed.out and payload["about"] in printed.out for payload in listed.json)
    assert "script" in printed.err
    assert not product.home.exists()


def test_an_unknown_demo_is_refused_and_creates_nothing(product: Product):
    done = product.run("demo", "revue")
    assert (done.code, done.out) == (2, "")
    assert "Unknown demo: revue." in done.err
    assert "review_team" in done.err
    assert not Path(f"{product.home}-demos").exists()


def test_a_demo_names_its_script_and_its_folder_and_changes_nothing_else(product: Product):
    before = sorted(product.folder.rglob("*"))
    done = product.run("demo", "review-team", "--no-open")
    assert done.code == 0
    assert "A script replaces the model" in done.out
    assert "changes requested" in done.out
    assert f"Kept: the folder {product.home}-demos/review_team-1" in done.out
    assert sorted(product.folder.rglob("*")) == before
    (card,) = product.run("sessions", "--json").json
    assert card["state"] == "idle"


def test_each_run_of_a_demo_has_a_new_folder(tmp_path: Path):
    folders = [copy_folder("solo-run", tmp_path / "demos") for _ in range(2)]
    assert [folder.name for folder in folders] == ["solo_run-1", "solo_run-2"]
    assert sorted(path.name for path in folders[1].iterdir()) == ["README.md", "agents", "slugs.py", "test_slugs.py"]


@pytest.mark.parametrize("name", NAMES)
def test_the_agents_of_a_demo_are_valid_and_use_its_script(name: str, tmp_path: Path):
    roster = FolderDefinitions().read_roster(str(copy_folder(name, tmp_path)))
    assert roster.problems == ()
    assert {definition.model for definition in roster.definitions if definition.kind not in ("human", "remote")} == {
        f"scripted/script:{name}"
    }


def test_a_demo_uses_only_its_script_and_other_turns_only_configured_models(product: Product):
    product.plays({"name": "mine", "calls": [says("Hello.")]})
    _, facts = run_demo(product, "review_team")
    assert {payload["model"] for _, payload in payloads_of(facts, "model.requested")} == {"script:review_team"}
    assert product.run("run", "Hi").out == "Hello.\n"
    facts = product.run("facts", "last", "--json").json
    assert [payload["candidates"] for _, payload in payloads_of(facts, "routing.resolved")] == [
        [{"provider": "scenario", "model": "mine"}]
    ]


def test_a_request_waits_for_the_person_and_ctrl_c_names_the_kept_folder(product: Product):
    """CTL-04"""
    with product.started("demo", "solo_run", "--no-open") as running:
        lines: list[str] = []
        while "answer on the page" not in (lines[-1] if lines else ""):
            line = running.line()
            assert line is not None
            lines.append(line)
        running.signal(signal.SIGINT)
        assert running.rest() == []
        assert running.wait() == 130
        running.close()
    assert f"Stopped before its end. Kept: the folder {product.home}-demos/solo_run-1" in "\n".join(running.errors)
    types = [fact["type"] for fact in product.run("facts", "last", "--json").json]
    assert "action.required" in types
    assert "action.resolved" not in types


def test_no_output_interrupts_the_line_of_the_answer(product: Product):
    """The facts of the desk are printed after the print shop's question was answered."""
    with product.terminal("demo", "remote_teammate", "--no-open") as terminal:
        terminal.until("[a]pprove once")
        terminal.until("  >")
        until = time.monotonic() + PATIENCE
        while ("desk", "turn.completed") not in {
            (fact.get("agentId"), fact["type"]) for fact in product.run("facts", "last", "--json").json
        }:
            assert time.monotonic() < until
        terminal.send("r\n")
        assert terminal.until("r\r\n").split() == ["r"]
        terminal.until("your answer: reject")
        terminal.send("\x03")


def test_the_person_answers_in_the_terminal(product: Product):
    """CTL-04"""
    with product.terminal("demo", "solo_run", "--no-open") as terminal:
        terminal.until("[a]pprove once")
        terminal.until(">")
        terminal.send("a\n")
        terminal.until("your answer: approve")
        terminal.until("│ Ran 2 tests")
        terminal.until("│ OK")
        terminal.until("The page stays open until Ctrl-C.")
        terminal.send("\x03")
        assert terminal.wait() == 0
