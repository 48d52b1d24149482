"""Teams told fact by fact that do what the worker's team of `troupe` does not: one of it sleeps and wakes, one is elsewhere, a
task is tried twice, the session is handed over to a specialist and comes back."""

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
from callboard.contracts.facts.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    ReplyEnded,
)
from callboard.contracts.facts.message import PlanUpdated
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
    Fix,
    ReviewApplied,
    ReviewRequested,
    ReviewVerdict,
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
from tests.projection.deliverables import kept
from tests.projection.runs import within
from tests.projection.story import RUN, THREAD, Story, asked
from tests.projection.team.troupe import (
    STARTED,
    Said,
    begun,
    child,
    conforming,
    handed,
    joined,
    records_of,
    specialist,
    team,
    told,
)

WATCHER = Scope(agent="watcher", thread="thr_b")
WATCH = within(WATCHER, task="tsk_b")
SCOUT = Scope(agent="scout", thread="thr_r")
CRITIC = Scope(agent="critic", thread="thr_critic")
CARD_URL = "https://scout.example/card"
HALF_HOUR = 1_800_000_000


def run_of(scope: Scope, number: int) -> Scope:
    """The scope of that run of an agent."""
    return within(scope, turn=f"trn_{scope.agent}{number}", run=f"run_{scope.agent}{number}", task="")


def begins(scope: Scope, number: int) -> Said:
    """A turn of the agent begins that nobody but its inbox or its schedule asked for."""
    submitted = TurnSubmitted(input=Text(), mode="auto", permission_mode="edits", source="schedule")
    run = run_of(scope, number)
    return (submitted, within(run, run="")), (STARTED, run)


def wakes(number: int) -> Said:
    """The watcher wakes for its time, and its turn begins."""
    run = run_of(WATCHER, number)
    woke = AgentWoke(reason="schedule", due=number * HALF_HOUR)
    return (woke, within(run, run="", task=WATCH.task)), *begins(WATCHER, number)


def watcher() -> Said:
    """A background agent joins and sleeps until its first time."""
    opened = ThreadOpened(
        agent_name="Watcher", kind="background", definition="watcher", definition_hash="h", policy=("Finalize",)
    )
    task = TaskCreated(title="Watch the log", assignee="watcher", entity="automation_job")
    slept = AgentSlept(reason="joined", wake_at=HALF_HOUR, schedule="every 1800 s", wake_on=("task.failed",))
    return (opened, WATCHER), (task, WATCH), (slept, WATCH)


def rests(number: int) -> Said:
    """Its turn is over, and it sleeps until the next time."""
    slept = AgentSlept(reason="ran", wake_at=(number + 1) * HALF_HOUR, schedule="every 1800 s")
    return (TurnCompleted(iterations=1), run_of(WATCHER, number)), (slept, WATCH)


def asks(kind: ActionType, run: Scope, *decisions: Decision) -> tuple[Fact, Scope]:
    """Something that only a person can settle."""
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
    return required, within(run, action=f"act_{run.run}")


def answers(run: Scope) -> tuple[Fact, Scope]:
    """The person's answer."""
    return ActionResolved(decision="answer", answer=Text(text="main")), within(run, action=f"act_{run.run}")


def asleep() -> Story:
    """A background agent that sleeps, wakes, asks, is paused, fails, and is through."""
    story = told(team(), *watcher(), *wakes(1))
    run = run_of(WATCHER, 1)
    approve = ActionResolved(decision="approve"), within(run, action=f"act_{run.run}")
    told(story, asks("tool_approval", run, "approve"), approve, *rests(1))
    told(story, (TaskPaused(reason="not now"), WATCH), (TaskResumed(), WATCH))
    told(story, *wakes(2), (TurnFailed(code="max_iters", message=""), run_of(WATCHER, 2)))
    story.say(AgentSlept(reason="ran", wake_at=3 * HALF_HOUR, schedule="every 1800 s"), WATCH)
    return told(story, (TaskCompleted(), WATCH), (AgentSlept(reason="ended"), WATCH))


def scout() -> tuple[Fact, Scope]:
    """An agent elsewhere joins."""
    opened = ThreadOpened(
        agent_name="Scout", kind="remote", definition="scout", definition_hash="h", url=CARD_URL, policy=("Patch",)
    )
    return opened, SCOUT


def reached() -> tuple[Fact, Scope]:
    """It was reached and showed its card."""
    return AgentConnected(provider_session_id="ctx_1", name="Scout 9", version="2", card=Text(text="{}")), SCOUT


def tells(state: RemoteTaskState, number: int = 1, message: str = "") -> tuple[Fact, Scope]:
    """It told a state of its task."""
    said = RemoteTaskChanged(remote_task_id=f"rmt_{number}", state=state, message=Text(text=message))
    return said, run_of(SCOUT, number)


def gives(name: str, number: int = 1) -> tuple[Fact, Scope]:
    """It delivered an artifact."""
    part = RemotePart(media="text/plain", text=Text(text=f"of {name}"))
    fact = RemoteArtifact(remote_task_id=f"rmt_{number}", remote_artifact_id=name, name=name, parts=(part,))
    return fact, run_of(SCOUT, number)


def given_to_scout() -> tuple[Fact, Scope]:
    """The lead hands over to it."""
    fact = HandoffRequested(
        source="solo", target="scout", to_thread=SCOUT.thread, edge="handoff", payload=Payload(message="Look there.")
    )
    return fact, within(RUN, handoff="han_scout")


def elsewhere() -> Story:
    """An agent elsewhere is given work, tells every state, needs an answer, delivers, and is gone."""
    story = told(asked(), scout(), given_to_scout(), *begins(SCOUT, 1), reached())
    told(story, tells("submitted"), tells("working"), tells("input_required", message="Which branch?"))
    told(story, asks("clarification", run_of(SCOUT, 1), "answer", "reject"), answers(run_of(SCOUT, 1)))
    told(story, tells("auth_required"), gives("report"), gives("report"), gives("log"), tells("completed"))
    story.say(TurnCompleted(iterations=1), run_of(SCOUT, 1))
    ends: tuple[RemoteTaskState, ...] = ("failed", "canceled", "rejected", "unknown")
    for number, state in enumerate(ends, start=2):
        told(story, *begins(SCOUT, number), tells(state, number), (TurnCompleted(iterations=1), run_of(SCOUT, number)))
    return story.say(AgentDisconnected(provider_session_id="ctx_1", reason="unreachable"), SCOUT)


ATTEMPTED = Scope(agent="solo", thread=THREAD.thread, task="tsk_c")


def tries(number: int) -> Said:
    """The critic works on the board's task: an attempt with its run."""
    run = run_of(CRITIC, number)
    started = TaskStarted(assignee="critic"), within(run, run="", task="tsk_c", attempt=number)
    return started, *begins(CRITIC, number)


def tried() -> Story:
    """A card of the board whose first attempt fails, and whose second is paused, told of, and cancelled."""
    story = told(asked(), specialist("critic"), (TaskCreated(title="Check it", priority="high"), ATTEMPTED))
    failed = TaskFailed(code="max_iters", message="It took too long."), ATTEMPTED
    told(story, *tries(1), (TurnFailed(code="max_iters", message=""), run_of(CRITIC, 1)), failed)
    progress = TaskUpdated(
        phase="reading",
        counters={"files": 3},
        refs=(Ref(type="file", ref="a.md"),),
        progress="half of it",
        blocker="the style",
        depends_on=("tsk_0",),
        comment="Mind the style.",
    )
    told(story, *tries(2), (progress, ATTEMPTED))
    told(story, (TaskPaused(reason="lunch"), ATTEMPTED), (TurnInterrupted(cause="person"), run_of(CRITIC, 2)))
    story.say(TaskResumed(), ATTEMPTED)
    again = (
        TurnSubmitted(input=Text(), mode="auto", permission_mode="edits"),
        within(run_of(CRITIC, 3), run="", task="tsk_c", attempt=2),
    )
    told(story, again, (STARTED, run_of(CRITIC, 3)))
    told(story, (TaskCancelRequested(reason="no more"), ATTEMPTED))
    told(story, (TurnInterrupted(cause="cancelled"), run_of(CRITIC, 3)))
    return story.say(TaskCancelled(reason="no more"), ATTEMPTED)


def moved(number: int = 1) -> HandoffRequested:
    """The session is to be the critic's."""
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


def specialists() -> Story:
    """The ownership of the session goes to a specialist, and comes back; another handoff is refused, one is not answered."""
    story = told(asked(), specialist("critic"))
    first, second, third = (within(RUN, handoff=f"han_{number}") for number in (1, 2, 3))
    run, again = run_of(CRITIC, 1), run_of(THREAD, 2)
    told(story, (moved(), first), (TurnCompleted(iterations=1), RUN), *begins(CRITIC, 1))
    told(story, (InboxReserved(items=("han_1",)), run), (InboxConsumed(items=("han_1",)), run))
    accepted = HandoffAccepted(source="solo", target="critic", ownership=True, resume_target="solo", reason="gladly")
    told(story, (accepted, within(CRITIC, handoff="han_1")))
    done = HandoffCompleted(source="solo", target="critic", returned=True, to_thread=THREAD.thread, reason="judged")
    told(story, (TurnCompleted(iterations=1), run), (done, within(CRITIC, handoff="han_1")), *begins(THREAD, 2))
    told(story, (InboxReserved(items=("han_1.returned",)), again), (InboxConsumed(items=("han_1.returned",)), again))
    refused = HandoffRejected(source="solo", target="critic", to_thread=THREAD.thread, reason="no time")
    told(story, (moved(2), second), (refused, within(CRITIC, handoff="han_2")))
    told(story, (moved(3), third), (ReplyEnded(end="expired", to_thread=THREAD.thread), third))
    told(story, (TurnCompleted(iterations=1), again), *begins(THREAD, 3))
    return story.say(InboxReserved(items=("han_2.rejected", "han_3.expired")), run_of(THREAD, 3))


def judged() -> Story:
    """Reviews of every verdict; a child that fails, one that is cancelled, one that is closed."""
    story = team().say(SubagentIsolated(path="/work/.trees/w1", branch="callboard/w1", base="ab"), child(1))
    for number, verdict in enumerate(("changes_requested", "failed", "passed"), start=1):
        scope = Scope(agent="solo", thread=THREAD.thread, task="tsk_w1", review=f"rev_{number}")
        asks_for = ReviewRequested(
            reviewer="solo", target="writer-1", item=f"itm_r{number}", to_thread=THREAD.thread, refs=_REFS
        )
        gave = ReviewVerdict(
            reviewer="solo", target="writer-1", verdict=verdict, refs=_REFS, fixes=(Fix(text="shorter"),)
        )
        told(story, (asks_for, scope), (InboxReserved(items=(f"itm_r{number}",)), RUN), (gave, scope))
        if verdict == "changes_requested":
            story.say(ReviewApplied(reviewer="solo", target="writer-1"), scope)
    run = Scope(agent="writer-1", thread="thr_w1", turn="trn_w1", run="run_w1")
    told(story, asks("teammate_plan_decision", run), answers(run))
    told(story, (SubagentFailed(code="max_iters", message=""), child(1)), (SubagentCancelled(), child(1)))
    told(story, (SubagentMergeRequested(), child(1)), (SubagentMerged(status="merged", files=("a.md",)), child(1)))
    return story.say(SubagentClosed(), child(1))


_REFS = (Ref(type="file", ref="a.md"),)
STEPS = (PlanStep("Look", "completed"), PlanStep("Write", "in_progress"))


def planned() -> Story:
    """A run that tells its plan, twice."""
    story = asked()
    story.say(PlanUpdated(steps=(PlanStep("Look", "pending"),)), within(RUN, step=2))
    return story.say(PlanUpdated(steps=STEPS, final=True), within(RUN, step=3))


def halted() -> Story:
    """A main that waits for a person, who exports what there is."""
    story = told(asked(), specialist("critic"), (ErrorRaised(code="store_full", message="Full."), RUN))
    told(story, (TurnFailed(code="no_progress", message=""), RUN), (ThreadPaused(cause="no_progress"), THREAD))
    pack = EvidenceExported(through=7, facts=7, link="ab", pack=BlobRef(hash="cd", size=9))
    return story.say(pack, Scope(evidence="evi_1"))


def orphaned() -> Story:
    """A child whose parent nobody was told of."""
    opened = ThreadOpened(agent_name="Lost", kind="subagent", definition="writer", definition_hash="h")
    return told(asked(), (opened, Scope(agent="lost", thread="thr_l", parent_thread="thr_gone")))


def waited() -> Story:
    """A turn that waits in a queue, and begins; a message is read, a report taken; a program of its own is connected."""
    story = told(team(), handed(), (InboxReserved(items=("han_1",)), RUN), (InboxConsumed(items=("han_1",)), RUN))
    story.say(HandoffAccepted(source="writer-1", target="solo", reason="consumed"), within(RUN, handoff="han_1"))
    note = WorkerNotification(
        item="itm_1", to_thread=THREAD.thread, status="failed", summary="no key", result=Text(text="half of it")
    )
    told(story, (note, child(1)), (AgentConnected(provider_session_id="abc", name="Program"), child(1)))
    told(story, (InboxReserved(items=("itm_1",)), RUN), (InboxConsumed(items=("itm_1",)), RUN))
    run = run_of(THREAD, 2)
    submitted = TurnSubmitted(input=Text(text="Next."), mode="chat", permission_mode="ask")
    told(story, (submitted, within(run, run="")), (QueueAdded(position=1), within(run, run="")))
    return told(story, (TurnCompleted(iterations=1), RUN), (STARTED, run))


def people() -> Story:
    """A person who is an agent is given a card of the board."""
    opened = ThreadOpened(agent_name="Ann", kind="human", definition="ann", definition_hash="h")
    given = TaskCreated(title="Decide", assignee="ann"), Scope(task="tsk_ann")
    return told(team(), (opened, Scope(agent="ann", thread="thr_ann")), given)


def parallel() -> Story:
    """Two workers at once, and a lead that waits for them."""
    load = TeamChanged(phase="active", parallel_budget=8, active_count=2, queued_count=0)
    awaited = SubagentsAwaited(agents=("writer-1", "writer-2"), mode="all"), within(RUN, step=3, tool_call="cal_1")
    return told(
        team(), *joined(2), *begun(2), (load, THREAD), (ToolStarted(tool="wait_subagents"), awaited[1]), awaited
    )


def behind() -> Story:
    """A command that goes on in the background, is asked to end, and does."""
    story, scope = asked(), within(RUN, step=2, tool_call="cal_1", process="prc_1")
    return told(
        story,
        (ProcessStarted(command=Text(text="npm run dev")), scope),
        (ProcessStopRequested(reason="no longer needed"), scope),
        (ProcessEnded(status="terminated", exit_code=137, output=Text(text="ready\n")), scope),
    )


def every() -> tuple[Story, ...]:
    """All of them."""
    others = (
        behind(),
        asleep(),
        elsewhere(),
        tried(),
        specialists(),
        judged(),
        planned(),
        halted(),
        orphaned(),
        waited(),
    )
    return (*others, people(), parallel(), team(), conforming(), kept())


RowT = TypeVar("RowT", bound=Row)


def shown(story: Story, kind: type[RowT], key: str = "") -> list[RowT]:
    """The rows of that kind, and key, as they were one after the other."""
    view = SessionView()
    ops = [op for record in records_of(story) for op in view.apply(record)]
    return [op.row for op in ops if isinstance(op, Upsert) and isinstance(op.row, kind) and key in ("", op.row.key)]
