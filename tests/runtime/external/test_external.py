"""External agents as teammates, with a real process, protocol, gate and log."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from callboard.adapters.acp import AcpAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted
from callboard.contracts.facts.model import ModelFailed, RoutingResolved
from callboard.contracts.facts.permission import PermissionEvaluated, Reason
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused, ToolRequested
from callboard.contracts.facts.turn import TurnFailed
from callboard.contracts.rows.session import SessionCard
from tests.runtime.rigs.acp_agent import AGENT, Steps, answer, list_facts, open_coder, start_session
from tests.runtime.rigs.runtime_rig import open_runtime


async def test_text_reasoning_and_calls_become_facts_in_order(tmp_path: Path):
    steps: Steps = [
        {"think": "Let me "},
        {"think": "see."},
        {"say": "Looking. "},
        {"call": {"id": "x", "title": "Fix a.py", "kind": "edit", "input": {"path": "a.py"}, "path": "a.py"}},
        {"call": {"id": "x", "status": "in_progress"}},
        {"call": {"id": "x", "status": "completed", "diff": ["a.py", "old\n", "new\n"], "output": "done"}},
        {"say": "Fixed."},
    ]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        types = await rig.types(session)
        (route,) = await list_facts(rig, session, RoutingResolved)
        (thought,) = await list_facts(rig, session, ReasoningCompleted)
        texts = [fact.content.text for fact in await list_facts(rig, session, MessageText)]
        requested = await list_facts(rig, session, ToolRequested)
        verdicts = await list_facts(rig, session, PermissionEvaluated)
        ended = await list_facts(rig, session, ToolCompleted)
        (there,) = await list_facts(rig, session, AgentConnected)

    assert types[types.index("turn.started") : -1] == [
        "turn.started",
        "routing.resolved",
        "model.requested",
        *(
            "tool.requested",
            "permission.evaluated",
            "action.required",
            "action.resolved",
            "tool.started",
            "tool.completed",
        ),
        "agent.connected",
        "reasoning.completed",
        "message.text",
        *("tool.requested", "permission.evaluated", "tool.started", "tool.completed"),
        "message.text",
        *("model.completed", "cost.recorded", "output.final"),
    ]
    assert types[-1] == "turn.completed"
    assert (route.chosen.provider, route.chosen.model) == ("acp", Path(sys.executable).name)
    assert (thought.content.text, texts) == ("Let me see.", ["Looking. ", "Fixed."])
    assert [fact.tool for fact in requested] == ["StartAgent", "Edit"]
    assert [(fact.verdict, fact.risk) for fact in verdicts] == [("ask", "high"), ("allow", "medium")]
    assert verdicts[1].checks[0].reasons == (Reason(code="runs_itself"),)
    assert ended[1].output.text == "done"
    (change,) = ended[1].changes
    assert (change.path, change.kind, change.added, change.removed) == ("a.py", "modified", 1, 1)
    assert "-old\n+new\n" in change.diff.text
    assert (there.name, there.version, there.resumed) == ("Scripted", "1.2.3", False)


async def test_the_agent_starts_only_after_approval_of_its_exact_command(tmp_path: Path):
    async with open_coder(tmp_path, [{"mark": str(tmp_path / "started")}, {"say": "hi"}]) as rig:
        session = (await rig.submit("Do it.")).session_id
        action = await answer(rig, session, "reject")
        failed = await rig.until(session, "turn.failed")
        again = (await rig.submit("Do it.", session)).session_id
        await answer(rig, again, count=2, scope="session")
        await rig.until(session, "turn.completed")

    command = f"{sys.executable} {AGENT} {tmp_path / 'script.json'}"
    assert command in action.prompt or action.preview is not None
    assert action.preview is not None
    assert action.preview.text == command
    assert action.matchers == {"session": f"StartAgent({command})", "workspace": f"StartAgent({command})"}
    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == "person_denied"


async def test_a_permission_request_passes_the_rules_and_then_a_person(tmp_path: Path):
    steps: Steps = [
        {"permit": {"id": "a", "title": "Read it", "kind": "read", "path": "a.py"}},
        {"permit": {"id": "b", "title": "Edit it", "kind": "edit", "path": "/etc/passwd"}},
        {"call": {"id": "c", "title": "make", "kind": "execute", "input": {"command": "make all"}}},
        {"call": {"id": "c", "status": "in_progress"}},
        {"permit": {"id": "c", "title": "make", "kind": "execute"}},
        {"call": {"id": "c", "status": "completed", "output": "made"}},
        {"permit": {"id": "d", "title": "make", "kind": "execute", "input": {"command": "make all"}}},
        {"call": {"id": "d", "status": "completed", "output": "made again"}},
        {"permit": {"id": "e", "title": "rm", "kind": "execute", "input": {"command": "rm -rf x"}}},
    ]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        action = await answer(rig, session, count=2, scope="session")
        await answer(rig, session, "reject", count=3)
        await rig.until(session, "turn.completed")
        texts = "".join(fact.content.text for fact in await list_facts(rig, session, MessageText))
        refused = [fact.code for fact in await list_facts(rig, session, ToolRefused)]
        ended = [fact.output.text for fact in await list_facts(rig, session, ToolCompleted)]
        read = await rig.parts(session, (await rig.facts(session))[2].scope.turn)

    assert texts == "[yes][no][yes][yes][no]"
    assert (action.tool, action.matchers["session"]) == ("Bash", "Bash(make all)")
    assert refused == ["path_denied", "person_denied"]
    assert ended[1:] == ["made", "made again"]
    assert read


async def test_reads_and_writes_through_callboard_pass_the_gate(tmp_path: Path):
    steps: Steps = [
        {"read": {"path": str(tmp_path / "work" / "a.txt"), "line": 2, "limit": 1}},
        {"read": {"path": "/etc/hostname"}},
        {"write": {"path": str(tmp_path / "work" / "b.txt"), "content": "new\n"}},
        {"write": {"path": str(tmp_path / "work" / "c.txt"), "content": "never\n"}},
    ]
    async with open_coder(tmp_path, steps, tools="[Read, Write]") as rig:
        (rig.folder / "a.txt").write_text("one\ntwo\nthree\n")
        session = await start_session(rig)
        action = await answer(rig, session, count=2)
        await answer(rig, session, "reject", count=3)
        await rig.until(session, "turn.completed")
        texts = "".join(fact.content.text for fact in await list_facts(rig, session, MessageText))
        written = (rig.folder / "b.txt").read_text()

    assert texts.startswith("[two\n][refused: {'details': ")
    assert "is outside the folder" in texts
    assert "[done][refused: {'details': 'The person rejected the call.'}]" in texts
    assert (action.tool, written) == ("Write", "new\n")
    assert not (rig.folder / "c.txt").exists()


async def test_an_interrupted_turn_keeps_its_text_and_the_agent_takes_the_next_turn(tmp_path: Path):
    steps: Steps = [
        {"call": {"id": "x", "title": "Wait", "kind": "execute", "status": "pending"}},
        {"call": {"id": "x", "status": "in_progress"}},
        {"say": "Half a"},
        {"hang": True},
    ]
    async with open_coder(tmp_path, steps, [{"echo": True}], external_stop=60.0) as rig:
        session = await start_session(rig)
        await rig.wait_partial(session, "Half a")
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        await rig.submit("And now?", session)
        await rig.until(session, "turn.completed")
        (cut,) = await list_facts(rig, session, MessageInterrupted)
        (text,) = await list_facts(rig, session, MessageText)
        types = await rig.types(session)
        connected = await list_facts(rig, session, AgentConnected)

    assert cut.content.text == "Half a (stopped)"
    assert types[types.index("turn.interrupt.requested") :][:5] == [
        "turn.interrupt.requested",
        "message.interrupted",
        "model.interrupted",
        "tool.cancelled",
        "turn.interrupted",
    ]
    assert text.content.text == "And now?"
    assert len(connected) == 1


async def test_an_agent_that_does_not_stop_is_ended(tmp_path: Path):
    steps: Steps = [{"say": "Busy"}, {"permit": {"id": "x", "title": "t", "kind": "other"}}, {"stay": True}]
    async with open_coder(tmp_path, steps, external_stop=0.2) as rig:
        session = await start_session(rig)
        await rig.until(session, "action.required", 2)
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        types = await rig.types(session)
        (gone,) = await list_facts(rig, session, AgentDisconnected)

    assert types[types.index("turn.interrupt.requested") :] == [
        "turn.interrupt.requested",
        "agent.disconnected",
        "model.interrupted",
        "action.withdrawn",
        "tool.cancelled",
        "turn.interrupted",
    ]
    assert gone.reason == "it did not stop when it was asked to"


async def test_an_agent_that_dies_fails_its_turn_with_its_error_output(tmp_path: Path):
    steps: Steps = [
        {"call": {"id": "x", "title": "Run", "kind": "execute", "input": {"command": "make"}}},
        {"call": {"id": "x", "status": "in_progress"}},
        {"say": "So f"},
        {"err": "out of memory, token=abcdefgh12345"},
        {"die": 7},
    ]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        failed = await rig.until(session, "turn.failed")
        (model,) = await list_facts(rig, session, ModelFailed)
        types = await rig.types(session)
        (cut,) = await list_facts(rig, session, MessageInterrupted)

    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == model.code == "model_unavailable"
    assert "It exited with code 7. Its last error output:\nout of memory, token=***" in failed.fact.message
    assert cut.content.text == "So f"
    assert types[-5:] == ["agent.disconnected", "message.interrupted", "model.failed", "tool.lost", "turn.failed"]


async def test_a_silent_agent_fails_its_turn(tmp_path: Path):
    async with open_coder(tmp_path, [{"hang": True}], external_silence=0.2) as rig:
        session = await start_session(rig)
        failed = await rig.until(session, "turn.failed")

    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == "model_timeout"


async def test_ends_without_an_answer_have_their_own_codes(tmp_path: Path):
    ends: list[Steps] = [[{"end": "refusal"}], [{"end": "max_turn_requests"}], [{"say": "cut"}, {"end": "max_tokens"}]]
    async with open_coder(tmp_path, *ends) as rig:
        session = await start_session(rig)
        first = await rig.until(session, "turn.failed")
        await rig.submit("Again.", session)
        second = await rig.until(session, "turn.failed", 2)
        await rig.submit("Again.", session)
        await rig.until(session, "turn.completed")
        warned = await rig.until(session, "warning.raised")

    codes = [fact.code for fact in (first.fact, second.fact) if isinstance(fact, TurnFailed)]
    assert codes == ["model_refused_request", "max_iters"]
    assert getattr(warned.fact, "code", "") == "answer_cut"


async def test_an_agent_resumes_its_conversation_after_a_restart_if_it_can(tmp_path: Path):
    """COM-13."""
    async with open_coder(tmp_path, [{"echo": True}], load=True) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        (first,) = await list_facts(rig, session, AgentConnected)
    async with open_coder(tmp_path, [{"echo": True}], load=True) as rig:
        await rig.submit("Go on.", session)
        await answer(rig, session, count=2)
        await rig.until(session, "turn.completed", 2)
        connected = await list_facts(rig, session, AgentConnected)
        (gone,) = await list_facts(rig, session, AgentDisconnected)
    async with open_coder(tmp_path, [{"echo": True}]) as rig:
        await rig.submit("And on.", session)
        await answer(rig, session, count=3)
        await rig.until(session, "turn.completed", 3)
        texts = [fact.content.text for fact in await list_facts(rig, session, MessageText)]

    assert (connected[1].provider_session_id, connected[1].resumed) == (first.provider_session_id, True)
    assert gone.provider_session_id == first.provider_session_id
    assert texts[0] == "You are careful.\n\nDo it."
    assert texts[1] == "Go on."
    assert texts[2].startswith(
        "You are careful.\n\nThe conversation so far, which you do not remember:\n\nuser: Do it.\n\n"
    )
    assert texts[2].endswith("\n\nAnd on.")


async def test_an_agent_that_dies_between_turns_is_recorded_and_restarted(tmp_path: Path):
    """COM-13."""
    async with open_coder(tmp_path, [{"say": "one"}]) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        there = (await list_facts(rig, session, AgentConnected))[0]
        os.kill(int(there.provider_session_id.removeprefix("conversation-")), signal.SIGKILL)
        gone = await rig.until(session, "agent.disconnected")
        await rig.submit("Again.", session)
        await answer(rig, session, count=2)
        await rig.until(session, "turn.completed", 2)
        connected = await list_facts(rig, session, AgentConnected)

    assert isinstance(gone.fact, AgentDisconnected)
    assert gone.fact.reason == "It was ended by SIGKILL."
    assert len({fact.provider_session_id for fact in connected}) == 2


async def test_a_lead_delegates_to_the_agent_and_receives_its_result(tmp_path: Path):
    steps: Steps = [
        {"permit": {"id": "x", "title": "make", "kind": "execute", "input": {"command": "make"}}},
        {"echo": True},
    ]
    spawn = {"tool": {"name": "spawn_subagent", "arguments": {"agent": "coder", "objective": "Fix it."}}}
    wait = {"tool": {"name": "wait_subagents", "arguments": {}}}
    calls = [[spawn], [wait], [{"text": "It is fixed."}]]
    scenario = {"match": [{"agent": "lead", "text": "go", "calls": calls}]}
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"prompts": [steps]}))
    agents = tmp_path / "work" / "agents"
    agents.mkdir(parents=True)
    command = json.dumps([sys.executable, str(AGENT), str(script)])
    (agents / "lead.md").write_text(
        "---\nname: lead\ndescription: Leads.\nlead: true\ntools: ['*']\npolicy: [Delegate]\n---\nYou lead.\n"
    )
    (agents / "coder.md").write_text(
        f"---\nname: coder\ndescription: Codes.\nkind: subagent\nprovider: acp\ncommand: {command}\n"
        "tools: ['*']\npolicy: [Patch]\n---\n"
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), AcpAgents()) as rig:
        session = (await rig.submit("go")).session_id
        start = await answer(rig, session)
        make = await answer(rig, session, count=2)
        final = await rig.until(session, "output.final", 2)
        await rig.until(session, "turn.completed", 2)
        records = await rig.facts(session)
        (notified,) = await list_facts(rig, session, WorkerNotification)

    assert [start.action_type, make.action_type] == ["delegated_permission"] * 2
    assert {record.scope.agent for record in records if isinstance(record.fact, ActionRequired)} == {"coder-1"}
    assert (notified.status, notified.result.text) == ("completed", "[yes]Fix it.")
    assert (notified.usage.input_tokens, notified.usage.tool_calls) == (20, 2)
    assert final.scope.agent == "lead"


async def test_an_agent_that_cannot_start_fails_its_turn_with_a_reason(tmp_path: Path):
    async with open_coder(tmp_path) as rig:
        (rig.folder / "agents" / "coder.md").write_text(
            "---\nname: coder\ndescription: d\nkind: main\nlead: true\nprovider: acp\ncommand: [/no/such]\n---\n"
        )
        session = await start_session(rig)
        failed = await rig.until(session, "turn.failed")
        (start,) = await list_facts(rig, session, ToolFailed)

    assert isinstance(failed.fact, TurnFailed)
    assert failed.fact.code == start.code == "model_unavailable"
    assert failed.fact.message == "/no/such could not be started: No such file or directory."


async def test_a_sessions_card_names_the_conversations_that_it_started(tmp_path: Path) -> None:
    """A8: an import recognises them by the ids in `agent.connected`."""
    async with open_coder(tmp_path, [{"say": "Hello."}]) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        (connected,) = await list_facts(rig, session, AgentConnected)
        table = await rig.watch(rig.workspace, lambda table: any(card.driven for card in table.list_rows(SessionCard)))

    (card,) = table.list_rows(SessionCard)
    assert (card.session_id, card.driven) == (session, (connected.provider_session_id,))
