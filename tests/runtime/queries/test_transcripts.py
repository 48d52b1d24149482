"""The turns of one thread, read in pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.session import GetParts, GetTurns
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.subagent import NotificationPart
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.rows import Table
from tests.runtime.rigs.runtime_rig import open_runtime, says, use_tool
from tests.runtime.rigs.team import plays, wait_fact, write_crew

SPAWN = use_tool("spawn_subagent", agent="worker", objective="alpha")
SCENARIO = plays(
    ("lead", "go", [SPAWN, use_tool("wait_subagents"), says("There.")]),
    ("lead", "again", [says("So it is.")]),
    ("worker", "", [use_tool("Glob", pattern="*"), says("A.")]),
)


def count_ended(table: Table) -> int:
    """Return the number of ended turns in the view."""
    return sum(row.state == "completed" for row in table.list_rows(TurnRow))


async def test_the_turns_of_one_agent_are_read_without_others(tmp_path: Path) -> None:
    """UI-27, UI-29, COM-15: a transcript opens alone, in pages, with tools, answers and prompts."""
    async with open_runtime(tmp_path, SCENARIO, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go", mode="chat", permission_mode="full")
        session = turn.session_id
        await wait_fact(
            rig, session, lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead"
        )
        for number in range(2, 4):
            await rig.submit("again", session)
            await rig.until(session, "turn.completed", count=number + 1)
        runs = (await rig.watch(session, lambda table: count_ended(table) == 4)).list_rows(RunRow)
        opened = [record for record in await rig.facts(session) if isinstance(record.fact, ThreadOpened)]
        lead, worker = (next(record.scope.thread for record in opened if record.scope.agent == who) for who in _WHO)

        mine = (await rig.do(GetTurns(session_id=session, thread_id=worker))).turns
        assert [(row.agent_id, row.state) for row in mine] == [("worker-1", "completed")]
        parts = (await rig.do(GetParts(session_id=session, turn_id=mine[0].turn_id))).parts
        assert [type(part) for part in parts] == [ToolPart, TextPart]

        newest = (await rig.do(GetTurns(session_id=session, thread_id=lead, limit=2))).turns
        assert [row.input.text for row in newest] == ["again", "again"]
        older = (await rig.do(GetTurns(session_id=session, thread_id=lead, limit=2, before=newest[0].order))).turns
        assert [row.input.text for row in older] == ["go"]
        assert [bool(run.prompts) and all(prompt.hash for prompt in run.prompts) for run in runs] == [True] * 4

        with pytest.raises(Refusal) as refused:
            await rig.do(GetTurns(session_id=session, thread_id="thr_none"))
        assert (refused.value.code, refused.value.problem.field) == ("unknown_thread", "threadId")


async def test_a_turns_inbox_is_in_the_window_and_readable_later(tmp_path: Path) -> None:
    """UI-16, UI-27: also for old turns."""
    scenario = plays(
        ("lead", "go", [SPAWN, says("It works.")]),
        ("lead", "", [says("It is done.")]),
        ("worker", "", [says("A.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go", mode="chat", permission_mode="full")
        session = turn.session_id
        await wait_fact(rig, session, lambda record: record.header.type == "worker.notification")
        await rig.until(session, "turn.completed", count=2)
        second = await rig.submit("and", session)
        table = await rig.watch(session, lambda value: count_ended(value) == 3)
        (row,) = table.list_rows(NotificationPart)
        assert (row.turn_id, row.agent_id, row.status) == (second.turn_id, "worker-1", "completed")
        parts = (await rig.do(GetParts(session_id=session, turn_id=second.turn_id))).parts
        assert [type(part) for part in parts] == [NotificationPart, TextPart]


_WHO = ("lead", "worker-1")
