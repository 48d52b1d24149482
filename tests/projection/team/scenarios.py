"""Sessions of teams with features that `worker_team` lacks.

An agent sleeps and wakes, another is remote, a task is retried, a specialist takes over the session
and returns it.
"""

from __future__ import annotations

from typing import TypeVar

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.entities.team import Ref, RemoteTaskState
from callboard.contracts.facts.action import ActionRequired, ActionResolved, ActionType, Decision
from callboard.contracts.facts.agent import (
    AgentConnected,
    AgentDisconnected,
    AgentSlept,
    AgentWoke,
    RemoteArtifact,
    RemotePart,
    RemoteTaskChanged,
)
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewFix, ReviewRequested, ReviewVerdict
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.process import ProcessEnded, ProcessStarted, ProcessStopRequested
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import ErrorRaised, ThreadOpened, ThreadPaused
from callboard.contracts.facts.subagent import (
    SubagentCancelled,
    SubagentClosed,
    SubagentFailed,
    SubagentIsolated,
    SubagentMerged,
    SubagentMergeRequested,
    SubagentsAwaited,
    TeamChanged,
    WorkerNotification,
)
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
)
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnSubmitted
from callboard.contracts.rows.base import Row, Upsert
from callboard.contracts.scope import Scope
from callboard.projection.view import SessionView
from tests.projection.artifact_sessions import full_artifact_session
from tests.projection.runs import with_ids
from tests.projection.session_builder import RUN, THREAD, SessionBuilder, model_session
from tests.projection.team.worker_team import (
    STARTED,
    ScopedFacts,
    add_facts,
    child_scope,
    conformance_session,
    handoff_fact,
    join_facts,
    specialist_fact,
    start_facts,
    team_session,
)

WATCHER = Scope(agent="watcher", thread="thr_b")
WATCH = with_ids(WATCHER, task="tsk_b")
SCOUT = Scope(agent="scout", thread="thr_r")
CRITIC = Scope(agent="critic", thread="thr_critic")
CARD_URL = "https://scout.example/card"
HALF_HOUR = 1_800_000_000


def run_scope(scope: Scope, number: int) -> Scope:
    """Return the scope of an agent's run."""
    return with_ids(scope, turn=f"trn_{scope.agent}{number}", run=f"run_{scope.agent}{number}", task="")


def run_facts(scope: Scope, number: int) -> ScopedFacts:
    """Return the start of a turn that the agent's inbox or schedule causes."""
    submitted = TurnSubmitted(input=Text(), mode="auto", permission_mode="edits", source="schedule")
    run = run_scope(scope, number)
    return (submitted, with_ids(run, run="")), (STARTED, run)


def wake_facts(number: int) -> ScopedFacts:
    """Return the wake of the watcher by its schedule, and the start of its turn."""
    run = run_scope(WATCHER, number)
    woke = AgentWoke(reason="schedule", due=number * HALF_HOUR)
    return (woke, with_ids(run, run="", task=WATCH.task)), *run_facts(WATCHER, number)


def watcher_facts() -> ScopedFacts:
    """Return the facts of a background agent that joins and sleeps until its first time."""
    opened = ThreadOpened(
        agent_name="Watcher", kind="background", definition="watcher", definition_hash="h", policy=("Finalize",)
    )
    task = TaskCreated(title="Watch the log", assignee="watcher", entity="automation_job")
    slept = AgentSlept(reason="joined", wake_at=HALF_HOUR, schedule="every 1800 s", wake_on=("task.failed",))
    return (opened, WATCHER), (task, WATCH), (slept, WATCH)


def sleep_facts(number: int) -> ScopedFacts:
    """Return the end of the watcher's turn, and its sleep until the next time."""
    slept = AgentSlept(reason="ran", wake_at=(number + 1) * HALF_HOUR, schedule="every 1800 s")
    return (TurnCompleted(iterations=1), run_scope(WATCHER, number)), (slept, WATCH)


def action_fact(kind: ActionType, run: Scope, *decisions: Decision) -> tuple[Fact, Scope]:
    """Return a request that only a person can answer."""
    required = ActionRequired(
        action_type=kind,
        prompt="Which branch?",
        decisions=decisions,
        scopes=("once",),
        risk="low",
        tool="RemoteInput",
        arguments=Text(text="{}"),
        policy="ask",
    )
    return required, with_ids(run, action=f"act_{run.run}")


def answer_fact(run: Scope) -> tuple[Fact, Scope]:
    """Return the person's answer."""
    return ActionResolved(decision="answer", answer=Text(text="main")), with_ids(run, action=f"act_{run.run}")


def background_session() -> SessionBuilder:
    """Return a background agent that sleeps, wakes, asks, is paused, fails and ends."""
    session = add_facts(team_session(), *watcher_facts(), *wake_facts(1))
    run = run_scope(WATCHER, 1)
    approve = ActionResolved(decision="approve"), with_ids(run, action=f"act_{run.run}")
    add_facts(session, action_fact("tool_approval", run, "approve"), approve, *sleep_facts(1))
    add_facts(session, (TaskPaused(reason="not now"), WATCH), (TaskResumed(), WATCH))
    add_facts(session, *wake_facts(2), (TurnFailed(code="max_iters", message=""), run_scope(WATCHER, 2)))
    session.add(AgentSlept(reason="ran", wake_at=3 * HALF_HOUR, schedule="every 1800 s"), WATCH)
    return add_facts(session, (TaskCompleted(), WATCH), (AgentSlept(reason="ended"), WATCH))


def scout_fact() -> tuple[Fact, Scope]:
    """Return the fact of a remote agent that joins."""
    opened = ThreadOpened(
        agent_name="Scout", kind="remote", definition="scout", definition_hash="h", url=CARD_URL, policy=("Patch",)
    )
    return opened, SCOUT


def connect_fact() -> tuple[Fact, Scope]:
    """Return the connection to the remote agent, with its card."""
    return AgentConnected(provider_session_id="ctx_1", name="Scout 9", version="2", card=Text(text="{}")), SCOUT


def remote_task_fact(state: RemoteTaskState, number: int = 1, message: str = "") -> tuple[Fact, Scope]:
    """Return a reported state of the remote task."""
    changed = RemoteTaskChanged(remote_task_id=f"rmt_{number}", state=state, message=Text(text=message))
    return changed, run_scope(SCOUT, number)


def remote_artifact_fact(name: str, number: int = 1) -> tuple[Fact, Scope]:
    """Return a delivered artifact."""
    part = RemotePart(media="text/plain", text=Text(text=f"of {name}"))
    fact = RemoteArtifact(remote_task_id=f"rmt_{number}", remote_artifact_id=name, name=name, parts=(part,))
    return fact, run_scope(SCOUT, number)


def scout_handoff_fact() -> tuple[Fact, Scope]:
    """Return the lead's handoff to the remote agent."""
    fact = HandoffRequested(
        source="solo", target="scout", to_thread=SCOUT.thread, edge="handoff", payload=Payload(message="Look there.")
    )
    return fact, with_ids(RUN, handoff="han_scout")


def remote_session() -> SessionBuilder:
    """Return a remote agent that works, reports every state, asks, delivers and disconnects."""
    session = add_facts(model_session(), scout_fact(), scout_handoff_fact(), *run_facts(SCOUT, 1), connect_fact())
    add_facts(
        session,
        remote_task_fact("submitted"),
        remote_task_fact("working"),
        remote_task_fact("input_required", message="Which branch?"),
    )
    add_facts(
        session, action_fact("clarification", run_scope(SCOUT, 1), "answer", "reject"), answer_fact(run_scope(SCOUT, 1))
    )
    add_facts(
        session,
        remote_task_fact("auth_required"),
        remote_artifact_fact("report"),
        remote_artifact_fact("report"),
        remote_artifact_fact("log"),
        remote_task_fact("completed"),
    )
    session.add(TurnCompleted(iterations=1), run_scope(SCOUT, 1))
    ends: tuple[RemoteTaskState, ...] = ("failed", "canceled", "rejected", "unknown")
    for number, state in enumerate(ends, start=2):
        add_facts(
            session,
            *run_facts(SCOUT, number),
            remote_task_fact(state, number),
            (TurnCompleted(iterations=1), run_scope(SCOUT, number)),
        )
    return session.add(AgentDisconnected(provider_session_id="ctx_1", reason="unreachable"), SCOUT)


ATTEMPTED = Scope(agent="solo", thread=THREAD.thread, task="tsk_c")


def attempt_facts(number: int) -> ScopedFacts:
    """Return an attempt of the critic at the task of the board, with its run."""
    run = run_scope(CRITIC, number)
    started = TaskStarted(assignee="critic"), with_ids(run, run="", task="tsk_c", attempt=number)
    return started, *run_facts(CRITIC, number)


def retry_session() -> SessionBuilder:
    """Return a task whose first attempt fails, and whose second is paused, commented on and
    cancelled.
    """
    session = add_facts(
        model_session(), specialist_fact("critic"), (TaskCreated(title="Check it", priority="high"), ATTEMPTED)
    )
    failed = TaskFailed(code="max_iters", message="It took too long."), ATTEMPTED
    add_facts(session, *attempt_facts(1), (TurnFailed(code="max_iters", message=""), run_scope(CRITIC, 1)), failed)
    progress = TaskUpdated(
        phase="reading",
        counters={"files": 3},
        refs=(Ref(type="file", ref="a.md"),),
        progress="half of it",
        blocker="the style",
        depends_on=("tsk_0",),
        comment="Mind the style.",
    )
    add_facts(session, *attempt_facts(2), (progress, ATTEMPTED))
    add_facts(session, (TaskPaused(reason="lunch"), ATTEMPTED), (TurnInterrupted(cause="person"), run_scope(CRITIC, 2)))
    session.add(TaskResumed(), ATTEMPTED)
    again = (
        TurnSubmitted(input=Text(), mode="auto", permission_mode="edits"),
        with_ids(run_scope(CRITIC, 3), run="", task="tsk_c", attempt=2),
    )
    add_facts(session, again, (STARTED, run_scope(CRITIC, 3)))
    add_facts(session, (TaskCancelRequested(reason="no more"), ATTEMPTED))
    add_facts(session, (TurnInterrupted(cause="cancelled"), run_scope(CRITIC, 3)))
    return session.add(TaskCancelled(reason="no more"), ATTEMPTED)


def ownership_fact(number: int = 1) -> HandoffRequested:
    """Return a request to give the session to the critic."""
    return HandoffRequested(
        source="solo",
        target="critic",
        to_thread=CRITIC.thread,
        edge="handoff",
        payload=Payload(message=f"Judge it, {number}."),
        reason="you know this",
        ownership=True,
        confirm=True,
        resume_target="solo",
        context_boundary=7,
        reply_by=9,
    )


def handoff_session() -> SessionBuilder:
    """Return a session that a specialist takes over and returns, one rejected and one unanswered
    handoff.
    """
    session = add_facts(model_session(), specialist_fact("critic"))
    first, second, third = (with_ids(RUN, handoff=f"han_{number}") for number in (1, 2, 3))
    run, again = run_scope(CRITIC, 1), run_scope(THREAD, 2)
    add_facts(session, (ownership_fact(), first), (TurnCompleted(iterations=1), RUN), *run_facts(CRITIC, 1))
    add_facts(session, (InboxReserved(items=("han_1",)), run), (InboxConsumed(items=("han_1",)), run))
    accepted = HandoffAccepted(source="solo", target="critic", ownership=True, resume_target="solo", reason="gladly")
    add_facts(session, (accepted, with_ids(CRITIC, handoff="han_1")))
    done = HandoffCompleted(source="solo", target="critic", returned=True, to_thread=THREAD.thread, reason="judged")
    add_facts(
        session, (TurnCompleted(iterations=1), run), (done, with_ids(CRITIC, handoff="han_1")), *run_facts(THREAD, 2)
    )
    add_facts(
        session, (InboxReserved(items=("han_1.returned",)), again), (InboxConsumed(items=("han_1.returned",)), again)
    )
    refused = HandoffRejected(source="solo", target="critic", to_thread=THREAD.thread, reason="no time")
    add_facts(session, (ownership_fact(2), second), (refused, with_ids(CRITIC, handoff="han_2")))
    add_facts(session, (ownership_fact(3), third), (ReplyEnded(end="expired", to_thread=THREAD.thread), third))
    add_facts(session, (TurnCompleted(iterations=1), again), *run_facts(THREAD, 3))
    return session.add(InboxReserved(items=("han_2.rejected", "han_3.expired")), run_scope(THREAD, 3))


def review_session() -> SessionBuilder:
    """Return a review of each verdict, and children that fail, are cancelled and are closed."""
    session = team_session().add(
        SubagentIsolated(path="/work/.trees/w1", branch="callboard/w1", base="ab"), child_scope(1)
    )
    for number, verdict in enumerate(("changes_requested", "failed", "passed"), start=1):
        scope = Scope(agent="solo", thread=THREAD.thread, task="tsk_w1", review=f"rev_{number}")
        asks_for = ReviewRequested(
            reviewer="solo", target="writer-1", item=f"itm_r{number}", to_thread=THREAD.thread, refs=_REFS
        )
        gave = ReviewVerdict(
            reviewer="solo", target="writer-1", verdict=verdict, refs=_REFS, fixes=(ReviewFix(text="shorter"),)
        )
        add_facts(session, (asks_for, scope), (InboxReserved(items=(f"itm_r{number}",)), RUN), (gave, scope))
        if verdict == "changes_requested":
            session.add(ReviewApplied(reviewer="solo", target="writer-1"), scope)
    run = Scope(agent="writer-1", thread="thr_w1", turn="trn_w1", run="run_w1")
    add_facts(session, action_fact("teammate_plan_decision", run), answer_fact(run))
    add_facts(
        session, (SubagentFailed(code="max_iters", message=""), child_scope(1)), (SubagentCancelled(), child_scope(1))
    )
    add_facts(
        session,
        (SubagentMergeRequested(), child_scope(1)),
        (SubagentMerged(status="merged", files=("a.md",)), child_scope(1)),
    )
    return session.add(SubagentClosed(), child_scope(1))


_REFS = (Ref(type="file", ref="a.md"),)
STEPS = (PlanStep("Look", "completed"), PlanStep("Write", "in_progress"))


def plan_session() -> SessionBuilder:
    """Return a run with a plan and its update."""
    session = model_session()
    session.add(PlanUpdated(steps=(PlanStep("Look", "pending"),)), with_ids(RUN, step=2))
    return session.add(PlanUpdated(steps=STEPS, final=True), with_ids(RUN, step=3))


def paused_session() -> SessionBuilder:
    """Return a failed turn whose thread is paused, and an evidence pack."""
    session = add_facts(
        model_session(), specialist_fact("critic"), (ErrorRaised(code="store_full", message="Full."), RUN)
    )
    add_facts(session, (TurnFailed(code="no_progress", message=""), RUN), (ThreadPaused(cause="no_progress"), THREAD))
    pack = EvidenceExported(through=7, facts=7, link="ab", pack=BlobRef(hash="cd", size=9))
    return session.add(pack, Scope(evidence="evi_1"))


def orphan_session() -> SessionBuilder:
    """Return a child with an unknown parent."""
    opened = ThreadOpened(agent_name="Lost", kind="subagent", definition="writer", definition_hash="h")
    return add_facts(model_session(), (opened, Scope(agent="lost", thread="thr_l", parent_thread="thr_gone")))


def queue_session() -> SessionBuilder:
    """Return a session with a queued turn, a read message, a read report and a connected external
    agent.
    """
    session = add_facts(
        team_session(), handoff_fact(), (InboxReserved(items=("han_1",)), RUN), (InboxConsumed(items=("han_1",)), RUN)
    )
    session.add(HandoffAccepted(source="writer-1", target="solo", reason="consumed"), with_ids(RUN, handoff="han_1"))
    note = WorkerNotification(
        item="itm_1", to_thread=THREAD.thread, status="failed", summary="no key", result=Text(text="half of it")
    )
    add_facts(
        session, (note, child_scope(1)), (AgentConnected(provider_session_id="abc", name="Program"), child_scope(1))
    )
    add_facts(session, (InboxReserved(items=("itm_1",)), RUN), (InboxConsumed(items=("itm_1",)), RUN))
    run = run_scope(THREAD, 2)
    submitted = TurnSubmitted(input=Text(text="Next."), mode="chat", permission_mode="ask")
    add_facts(session, (submitted, with_ids(run, run="")), (QueueAdded(position=1), with_ids(run, run="")))
    return add_facts(session, (TurnCompleted(iterations=1), RUN), (STARTED, run))


def human_session() -> SessionBuilder:
    """Return a person who is an agent and has a task."""
    opened = ThreadOpened(agent_name="Ann", kind="human", definition="ann", definition_hash="h")
    task = TaskCreated(title="Decide", assignee="ann"), Scope(task="tsk_ann")
    return add_facts(team_session(), (opened, Scope(agent="ann", thread="thr_ann")), task)


def parallel_session() -> SessionBuilder:
    """Return two parallel workers and a lead that waits for them."""
    load = TeamChanged(phase="active", parallel_budget=8, active_count=2, queued_count=0)
    awaited = SubagentsAwaited(agents=("writer-1", "writer-2"), mode="all"), with_ids(RUN, step=3, tool_call="cal_1")
    return add_facts(
        team_session(),
        *join_facts(2),
        *start_facts(2),
        (load, THREAD),
        (ToolStarted(tool="wait_subagents"), awaited[1]),
        awaited,
    )


def process_session() -> SessionBuilder:
    """Return a background process from its start to its requested end."""
    session, scope = model_session(), with_ids(RUN, step=2, tool_call="cal_1", process="prc_1")
    return add_facts(
        session,
        (ProcessStarted(command=Text(text="npm run dev")), scope),
        (ProcessStopRequested(reason="no longer needed"), scope),
        (ProcessEnded(status="terminated", exit_code=137, output=Text(text="ready\n")), scope),
    )


def all_sessions() -> tuple[SessionBuilder, ...]:
    """Return every session of these modules."""
    others = (
        process_session(),
        background_session(),
        remote_session(),
        retry_session(),
        handoff_session(),
        review_session(),
        plan_session(),
        paused_session(),
        orphan_session(),
        queue_session(),
    )
    return (
        *others,
        human_session(),
        parallel_session(),
        team_session(),
        conformance_session(),
        full_artifact_session(),
    )


RowT = TypeVar("RowT", bound=Row)


def rows_over_time(session: SessionBuilder, kind: type[RowT], key: str = "") -> list[RowT]:
    """Return the rows of a kind and key, one for each change."""
    view = SessionView()
    ops = [op for record in session.records() for op in view.apply(record)]
    return [op.row for op in ops if isinstance(op, Upsert) and isinstance(op.row, kind) and key in ("", op.row.key)]
