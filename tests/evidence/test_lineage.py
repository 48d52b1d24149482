"""Which facts are of a task, its parts and the agents that worked on them."""

from __future__ import annotations

import io

import msgspec

from callboard.contracts.content import Text, blob_of
from callboard.contracts.facts import (
    ChannelMessage,
    EvidenceExported,
    MessageText,
    SessionCreated,
    TaskCompleted,
    TaskCreated,
    TaskStarted,
    TaskUpdated,
    ThreadOpened,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope
from callboard.evidence.lineage import TaskPart
from callboard.evidence.verify import verify
from callboard.log.memory import MemoryStore
from tests.evidence.given import files_of, lines_of, manifest_of, packed, say

LEAD = Scope(agent="lead", thread="thr_lead")
LEADS_TURN = Scope(agent="lead", thread="thr_lead", turn="trn_lead", run="run_lead")
CHILD = Scope(agent="worker-1", thread="thr_child")
CHILDS_TURN = Scope(agent="worker-1", thread="thr_child", turn="trn_child", run="run_child")


def made(task: str, scope: Scope, parent: str = "") -> NewFact:
    """A task, in the scope of whom it is given to."""
    given = {name: getattr(scope, name) for name in ("agent", "thread", "turn", "run", "parent_thread", "parent_run")}
    return NewFact(TaskCreated(title=task, parent_task=parent), Scope(task=task, **given))


def child_of(scope: Scope) -> Scope:
    """The scope of the child's facts that name its parent."""
    return Scope(agent=CHILD.agent, thread=CHILD.thread, parent_thread=scope.thread, parent_run=scope.run)


def opened(scope: Scope) -> NewFact:
    return NewFact(ThreadOpened(agent_name=scope.agent, kind="main", definition="d", definition_hash="d"), scope)


def submitted(scope: Scope) -> NewFact:
    return NewFact(TurnSubmitted(input=Text(text="go"), mode="chat", permission_mode="ask"), scope)


def started(scope: Scope) -> NewFact:
    turn = TurnStarted(
        mode="chat", permission_mode="ask", max_iters=1, definition="d", definition_hash="d", workspace_sequence=0
    )
    return NewFact(turn, scope)


def said(scope: Scope) -> NewFact:
    return NewFact(MessageText(content=Text(text="said")), msgspec.structs.replace(scope, step=1))


BEGUN = (NewFact(SessionCreated(workspace_id="wks", folder="/", title="t"), Scope()), opened(LEAD))


async def part_of(task: str, *facts: NewFact) -> TaskPart:
    """The task's part of a session."""
    store = MemoryStore()
    await say(store, *facts)
    pack, _ = await packed(store, task)
    assert verify(io.BytesIO(pack)).ok
    return msgspec.convert(manifest_of(files_of(pack))["task"], TaskPart)


async def test_a_child_s_task_is_the_child_s_whole_work_on_it():
    """SUB-04"""
    facts = (
        *BEGUN,
        submitted(LEADS_TURN),
        started(LEADS_TURN),
        made("tsk_child", child_of(LEADS_TURN)),
        opened(child_of(LEADS_TURN)),
        submitted(CHILDS_TURN),
        said(LEADS_TURN),
        started(CHILDS_TURN),
        said(CHILDS_TURN),
        NewFact(TaskCompleted(), Scope(task="tsk_child")),
        said(LEADS_TURN),
    )

    assert await part_of("tsk_child", *facts) == TaskPart(
        task_id="tsk_child",
        tasks=("tsk_child",),
        agents=("worker-1",),
        threads=("thr_child",),
        facts=((5, 7), (9, 11)),
    )


async def test_a_child_that_goes_on_with_another_task_leaves_the_first_one_as_it_was():
    facts = (
        *BEGUN,
        made("tsk_one", child_of(LEADS_TURN)),
        opened(child_of(LEADS_TURN)),
        said(CHILDS_TURN),
        made("tsk_two", child_of(LEADS_TURN)),
        said(CHILDS_TURN),
    )

    assert (await part_of("tsk_one", *facts)).facts == ((3, 5),)
    assert (await part_of("tsk_two", *facts)).facts == ((6, 7),)


async def test_the_task_of_a_turn_is_that_turn_with_the_children_that_it_spawned():
    facts = (
        *BEGUN,
        submitted(LEADS_TURN),
        started(LEADS_TURN),
        made("tsk_turn", LEADS_TURN),
        made("tsk_child", child_of(LEADS_TURN)),
        said(CHILDS_TURN),
        said(Scope(agent="lead", thread="thr_lead", turn="trn_next", run="run_next")),
        said(LEADS_TURN),
    )

    found = await part_of("tsk_turn", *facts)
    assert (found.tasks, found.agents) == (("tsk_child", "tsk_turn"), ("lead", "worker-1"))
    assert found.facts == ((3, 7), (9, 9))


async def test_a_card_of_the_board_has_its_parts_its_attempts_and_what_was_said_of_it():
    attempt = Scope(agent="lead", thread="thr_lead", task="tsk_card", turn="trn_lead", run="run_lead", attempt=1)
    facts = (
        *BEGUN,
        made("tsk_card", LEAD),
        made("tsk_part", LEAD, parent="tsk_card"),
        made("tsk_other", LEAD),
        NewFact(TaskStarted(assignee="lead"), attempt),
        said(LEADS_TURN),
        NewFact(TaskUpdated(comment="done soon"), Scope(task="tsk_part", turn="trn_other", thread="thr_lead")),
        NewFact(TaskUpdated(parent_task="tsk_part"), Scope(task="tsk_other")),
        said(Scope(agent="lead", thread="thr_lead", turn="trn_other", run="run_other")),
    )

    found = await part_of("tsk_card", *facts)
    assert found.tasks == ("tsk_card", "tsk_other", "tsk_part")
    assert found.facts == ((3, 9),)


async def test_what_passes_between_agents_of_the_task_is_the_task_s_on_both_sides():
    message = ChannelMessage(
        item="itm", source="lead", participants=("lead", "worker-1"), to_threads=("thr_child",), message=Text(text="hi")
    )
    facts = (
        *BEGUN,
        NewFact(message, Scope(agent="lead", thread="thr_lead", channel="chn_other")),
        NewFact(message, Scope(agent="lead", thread="thr_lead", channel="chn_a")),
        made("tsk_child", child_of(LEADS_TURN)),
        NewFact(message, Scope(agent="worker-1", thread="thr_child", channel="chn_a")),
    )

    assert (await part_of("tsk_child", *facts)).facts == ((4, 6),)


async def test_a_pack_of_a_child_s_task_has_the_child_s_facts_with_its_ids():
    """SUB-04"""
    store = MemoryStore()
    exported = EvidenceExported(through=4, facts=2, link="", pack=blob_of(b"").ref, task="tsk_child")
    scope = Scope(evidence="evd_a", task="tsk_child", agent="worker-1", thread="thr_child", parent_thread="thr_lead")
    await say(store, *BEGUN, made("tsk_child", child_of(LEADS_TURN)), said(CHILDS_TURN), NewFact(exported, scope))

    pack, done = await packed(store, "tsk_child")

    assert done.facts == 3
    assert [line["ids"] for line in lines_of(files_of(pack))][2:] == [
        {
            "agentId": "worker-1",
            "threadId": "thr_child",
            "taskId": "tsk_child",
            "parentThreadId": "thr_lead",
            "parentRunId": "run_lead",
        },
        {"agentId": "worker-1", "threadId": "thr_child", "turnId": "trn_child", "runId": "run_child", "step": 1},
        {
            "agentId": "worker-1",
            "threadId": "thr_child",
            "taskId": "tsk_child",
            "evidenceId": "evd_a",
            "parentThreadId": "thr_lead",
        },
    ]
