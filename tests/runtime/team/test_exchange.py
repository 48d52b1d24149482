"""Handoffs and messages between agents, also over a restart."""

from __future__ import annotations

from pathlib import Path

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.session import GetSession
from callboard.contracts.facts.exchange.handoff import HandoffAccepted, ReplyEnded
from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.control.state.session import Session
from tests.agents.files import definition_file, write_agents
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts, list_received_texts, plays, wait_fact, wait_state, write_crew

HANDOFF = {
    "message": "Look at the diff.",
    "structured": {"key": ["value", 1]},
    "artifacts": [{"type": "diff", "ref": "artifact://diff/123"}],
    "status": {"ok": True, "reason": "tests-pass"},
    "response": {"expectation": "optional", "replyTo": "lead"},
    "contextRef": "ctx://1",
    "meta": {"round": 2},
}


async def test_every_field_of_a_handoff_reaches_its_receivers_prompt(tmp_path: Path) -> None:
    """COM-05, COM-03"""
    scenario = {
        "match": plays(("lead", "go", [use_tool("send_handoff", to="The JUDGE", **HANDOFF), says("Sent.")]))["match"],
        "agents": {"critic": [says("Looks good.")]},
    }
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "handoff.completed")
        texts = await list_received_texts(rig, turn.session_id, "critic")
        requested = await rig.until(turn.session_id, "handoff.requested")
        for part in (
            '"kind":"handoff"',
            f'"id":"{requested.scope.handoff}"',
            '"fromNodeId":"lead","toNodeId":"critic"',
            '"message":"Look at the diff."',
            '"structured":{"key":["value",1]}',
            '"artifacts":[{"type":"diff","ref":"artifact://diff/123"}]',
            '"status":{"ok":true,"reason":"tests-pass"}',
            '"response":{"expectation":"optional","replyTo":"lead"}',
            '"contextRef":"ctx://1"',
            '"meta":{"round":2}',
            "These refs name no artifact of this session: artifact://diff/123.",
        ):
            assert part in texts, texts
        assert [fact.reason for fact in await list_facts(rig, turn.session_id, HandoffAccepted)] == ["consumed"]


async def test_an_inbox_survives_a_restart_and_is_consumed_once(tmp_path: Path) -> None:
    """COM-08, COM-09: items that a model did not answer wait for the next turn."""
    scenario = plays(
        ("lead", "go", [use_tool("send_handoff", to="critic", message="Look."), says("Sent.")]),
        ("critic", "look.", [[{"wait_for": "free"}, {"text": "Fine."}]]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "inbox.reserved")
        state = await wait_state(
            rig, turn.session_id, lambda state: "critic" in [thread.agent for thread in state.threads.values()]
        )
        thread = next(thread.thread for thread in state.threads.values() if thread.agent == "critic")
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        state = await wait_state(rig, turn.session_id, lambda state: state.threads[thread].run is None)
        waiting = [entry.item for entry in state.threads[thread].inbox]
        assert len(waiting) == 1
        (tmp_path / "free").touch()
        await rig.submit("once more", turn.session_id, thread_id=thread)
        await rig.until(turn.session_id, "handoff.completed")
        assert [list(fact.items) for fact in await list_facts(rig, turn.session_id, InboxConsumed)] == [waiting]
        assert (await list_received_texts(rig, turn.session_id, "critic")).count('"message":"Look."') >= 1


async def test_three_agents_that_message_each_other_in_a_ring_come_to_rest(tmp_path: Path) -> None:
    """MAR-09, MAR-13"""
    scenario = {
        "match": plays(("lead", "go", [use_tool("send_message", to=["one"], text="pass it on"), says("Sent.")]))[
            "match"
        ],
        "agents": {
            "one": [use_tool("send_message", to=["two"], text="pass it on"), says("Sent.")],
            "two": [use_tool("send_message", to=["lead"], text="pass it on"), says("Sent.")],
        },
    }
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_agents(
            rig.folder,
            lead=definition_file("name: lead\nlead: true\ntools: ['*']"),
            one=definition_file("name: one\ntools: ['*']"),
            two=definition_file("name: two\ntools: ['*']"),
        )
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed", count=3)
        state = await wait_state(
            rig, turn.session_id, lambda state: all(thread.run is None for thread in state.threads.values())
        )
        assert [item.source for item in state.threads[state.lead].inbox] == ["two"]
        assert (await rig.types(turn.session_id)).count("channel.message") == 3


async def test_a_required_answer_expires_also_after_a_restart_and_informs_its_sender(tmp_path: Path) -> None:
    """COM-16"""
    scenario = plays(
        (
            "lead",
            "go",
            [
                use_tool(
                    "send_handoff", to="critic", message="Look.", response={"expectation": "required", "withinS": 1}
                ),
                says("Sent."),
            ],
        ),
        ("critic", "look.", [[{"wait_for": "never"}]]),
        ("lead", "no-answer", [says("No answer arrived.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        await rig.do(GetSession(session_id=turn.session_id))
        await rig.until(turn.session_id, "handoff.reply.ended")
        assert [fact.end for fact in await list_facts(rig, turn.session_id, ReplyEnded)] == ["expired"]
        await rig.submit("well?", turn.session_id)
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: record.header.type == "inbox.consumed" and record.scope.agent == "lead",
        )
        assert "No answer came in time." in await list_received_texts(rig, turn.session_id, "lead")


async def test_a_child_that_ends_later_wakes_an_autonomous_lead(tmp_path: Path) -> None:
    """Multi-agent runtime spec, Mode loop semantics: AUTO continues with its inbox."""
    scenario = {
        "match": plays(
            (
                "lead",
                "go",
                [
                    use_tool("spawn_subagent", agent="worker", objective="alpha"),
                    use_tool("Finalize", summary="Given out."),
                ],
            ),
            ("worker", "alpha", [[{"wait_for": "free"}, {"text": "A."}]]),
            ("lead", "<worker agent", [use_tool("Finalize", summary="All there.")]),
        )["match"],
    }
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go", mode="auto")
        await rig.until(turn.session_id, "turn.completed")
        (tmp_path / "free").touch()
        await rig.until(turn.session_id, "turn.completed", count=3)
        assert [fact.source for fact in await list_facts(rig, turn.session_id, TurnSubmitted)] == [
            "person",
            "agent",
            "inbox",
        ]


async def test_a_blocked_agent_does_not_delay_another(tmp_path: Path) -> None:
    """COM-12"""
    scenario = plays(
        (
            "lead",
            "go",
            [
                use_tool("send_message", to=["critic"], text="block"),
                use_tool("send_message", to=["clerk"], text="answer"),
                says("Sent."),
            ],
        ),
        ("critic", "block", [[{"wait_for": "never"}]]),
        ("clerk", "answer", [says("Here.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: record.header.type == "turn.completed" and record.scope.agent == "clerk",
        )
        # A fact is durable before its host has applied it.
        state = await wait_state(rig, turn.session_id, lambda state: _at_work(state) == ["critic"])
        assert state.threads[state.lead].ended is not None


async def test_without_an_edge_nothing_reaches_the_other_agent(tmp_path: Path) -> None:
    """COM-01, COM-04"""
    scenario = calls(
        use_tool("send_handoff", to="critic", message="Look."),
        use_tool("send_handoff", to="critic"),
        use_tool("send_handoff", to="critic", message=" "),
        says("Then not."),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_agents(
            rig.folder,
            lead=definition_file("name: lead\nlead: true\ntools: ['*']\nedges: [{to: clerk}]"),
            critic=definition_file("name: critic\ntools: ['*']"),
            clerk=definition_file("name: clerk\ntools: ['*']"),
        )
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        types = await rig.types(turn.session_id)
        assert types.count("tool.refused") == 3
        assert not {"handoff.requested", "channel.message"} & set(types)
        assert types.count("thread.opened") == 1


def _at_work(state: Session) -> list[str]:
    return [thread.agent for thread in state.threads.values() if thread.run is not None]
