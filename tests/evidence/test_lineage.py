"""Selection of the facts of a task, its subtasks and the agents that worked on them."""

from __future__ import annotations

import io

import msgspec

from callboard.contracts.content import Text, make_blob
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskStarted, TaskUpdated
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope
from callboard.evidence.lineage import TaskPart
from callboard.evidence.verify import verify
from callboard.log.memory import MemoryStore
from tests.evidence.packs import append_facts, build_pack, read_fact_lines, read_manifest, unzip_files

LEAD = Scope(agent="lead", thread="thr_lead")
LEADS_TURN = Scope(agent="lead", thread="thr_lead", turn="trn_lead", run="run_lead")
CHILD = Scope(agent="worker-1", thread="thr_child")
CHILDS_TURN = Scope(agent="worker-1", thread="thr_child", turn="trn_child", run="run_child")


def task_created(task: str, scope: Scope, parent: str = "") -> NewFact:
    """Return the creation of a task, in the scope of its assignee."""
    ids = {name: getattr(scope, name) for name in ("agent", "thread", "turn", "run", "parent_thread", "parent_run")}
    return NewFact(TaskCreated(title=task, parent_task=parent), Scope(task=task, **ids))


def child_scope(scope: Scope) -> Scope:
    """Return the scope of facts of the child that name its parent."""
    return Scope(agent=CHILD.agent, thread=CHILD.thread, parent_thread=scope.thread, parent_run=scope.run)


def thread_opened(scope: Scope) -> NewFact:
    return NewFact(ThreadOpened(agent_name=scope.agent, kind="main", definition="d", definition_hash="d"), scope)


def turn_submitted(scope: Scope) -> NewFact:
    return NewFact(TurnSubmitted(input=Text(text="go"), mode="chat", permission_mode="ask"), scope)


def turn_started(scope: Scope) -> NewFact:
    turn = TurnStarted(
        mode="chat", permission_mode="ask", max_iters=1, definition="d", definition_hash="d", workspace_sequence=0
    )
    return NewFact(turn, scope)


def message(scope: Scope) -> NewFact:
    return NewFact(MessageText(content=Text(text="message")), msgspec.structs.replace(scope, step=1))


SESSION_START = (NewFact(SessionCreated(workspace_id="wks", folder="/", title="t"), Scope()), thread_opened(LEAD))


async def read_task_part(task: str, *facts: NewFact) -> TaskPart:
    """Return the facts of the task in a session."""
    store = MemoryStore()
    await append_facts(store, *facts)
    pack, _ = await build_pack(store, task)
    assert verify(io.BytesIO(pack)).ok
    return msgspec.convert(read_manifest(unzip_files(pack))["task"], TaskPart)


async def test_the_task_of_a_child_has_all_work_of_the_child():
    """SUB-04"""
    facts = (
        *SESSION_START,
        turn_submitted(LEADS_TURN),
        turn_started(LEADS_TURN),
        task_created("tsk_child", child_scope(LEADS_TURN)),
        thread_opened(child_scope(LEADS_TURN)),
        turn_submitted(CHILDS_TURN),
        message(LEADS_TURN),
        turn_started(CHILDS_TURN),
        message(CHILDS_TURN),
        NewFact(TaskCompleted(), Scope(task="tsk_child")),
        message(LEADS_TURN),
    )

    assert await read_task_part("tsk_child", *facts) == TaskPart(
        task_id="tsk_child",
        tasks=("tsk_child",),
        agents=("worker-1",),
        threads=("thr_child",),
        facts=((5, 7), (9, 11)),
    )


async def test_facts_after_a_new_task_of_the_child_belong_to_the_new_task():
    facts = (
        *SESSION_START,
        task_created("tsk_one", child_scope(LEADS_TURN)),
        thread_opened(child_scope(LEADS_TURN)),
        message(CHILDS_TURN),
        task_created("tsk_two", child_scope(LEADS_TURN)),
        message(CHILDS_TURN),
    )

    assert (await read_task_part("tsk_one", *facts)).facts == ((3, 5),)
    assert (await read_task_part("tsk_two", *facts)).facts == ((6, 7),)


async def test_the_task_of_a_turn_has_the_turn_and_its_children():
    facts = (
        *SESSION_START,
        turn_submitted(LEADS_TURN),
        turn_started(LEADS_TURN),
        task_created("tsk_turn", LEADS_TURN),
        task_created("tsk_child", child_scope(LEADS_TURN)),
        message(CHILDS_TURN),
        message(Scope(agent="lead", thread="thr_lead", turn="trn_next", run="run_next")),
        message(LEADS_TURN),
    )

    part = await read_task_part("tsk_turn", *facts)
    assert (part.tasks, part.agents) == (("tsk_child", "tsk_turn"), ("lead", "worker-1"))
    assert part.facts == ((3, 7), (9, 9))


async def test_a_card_of_the_board_has_its_subtasks_attempts_and_messages():
    attempt = Scope(agent="lead", thread="thr_lead", task="tsk_card", turn="trn_lead", run="run_lead", attempt=1)
    facts = (
        *SESSION_START,
        task_created("tsk_card", LEAD),
        task_created("tsk_part", LEAD, parent="tsk_card"),
        task_created("tsk_other", LEAD),
        NewFact(TaskStarted(assignee="lead"), attempt),
        message(LEADS_TURN),
        NewFact(TaskUpdated(comment="done soon"), Scope(task="tsk_part", turn="trn_other", thread="thr_lead")),
        NewFact(TaskUpdated(parent_task="tsk_part"), Scope(task="tsk_other")),
        message(Scope(agent="lead", thread="thr_lead", turn="trn_other", run="run_other")),
    )

    part = await read_task_part("tsk_card", *facts)
    assert part.tasks == ("tsk_card", "tsk_other", "tsk_part")
    assert part.facts == ((3, 9),)


async def test_channel_messages_between_agents_of_a_task_belong_to_the_task():
    message = ChannelMessage(
        item="itm", source="lead", participants=("lead", "worker-1"), to_threads=("thr_child",), message=Text(text="hi")
    )
    facts = (
        *SESSION_START,
        NewFact(message, Scope(agent="lead", thread="thr_lead", channel="chn_other")),
        NewFact(message, Scope(agent="lead", thread="thr_lead", channel="chn_a")),
        task_created("tsk_child", child_scope(LEADS_TURN)),
        NewFact(message, Scope(agent="worker-1", thread="thr_child", channel="chn_a")),
    )

    assert (await read_task_part("tsk_child", *facts)).facts == ((4, 6),)


async def test_a_pack_of_a_childs_task_has_the_ids_of_the_child():
    """SUB-04"""
    store = MemoryStore()
    exported = EvidenceExported(through=4, facts=2, link="", pack=make_blob(b"").ref, task="tsk_child")
    scope = Scope(evidence="evd_a", task="tsk_child", agent="worker-1", thread="thr_child", parent_thread="thr_lead")
    await append_facts(
        store,
        *SESSION_START,
        task_created("tsk_child", child_scope(LEADS_TURN)),
        message(CHILDS_TURN),
        NewFact(exported, scope),
    )

    pack, done = await build_pack(store, "tsk_child")

    assert done.facts == 3
    assert [line["ids"] for line in read_fact_lines(unzip_files(pack))][2:] == [
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
