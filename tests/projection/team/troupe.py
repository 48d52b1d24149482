"""A lead with workers, and random teams that hypothesis can shrink."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from callboard.contracts.content import Text
from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.entities.team import Edge, RemoteTaskState, WorkUsage
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.agent import (
    AgentConnected,
    AgentDisconnected,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    EdgeAdded,
    RemoteArtifact,
    RemoteTaskChanged,
)
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.handoff import (
    ChannelMessage,
    ChannelOpened,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    ReplyEnded,
)
from callboard.contracts.facts.message import PlanUpdated
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import AgentKind, ThreadOpened
from callboard.contracts.facts.subagent import (
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFailed,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    TeamChanged,
    WorkerNotification,
)
from callboard.contracts.facts.task import (
    ReviewApplied,
    ReviewRequested,
    ReviewVerdict,
    SnapshotUpdated,
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
from callboard.contracts.facts.tool import FileChange, ToolCompleted, ToolStarted
from callboard.contracts.facts.turn import (
    PromptRef,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from tests.projection.histories import History
from tests.projection.runs import Choose, within
from tests.projection.story import RUN, THREAD, Story, model_story

ScopedFacts = tuple[tuple[Fact, Scope], ...]
PARENT_TASK = "tsk_lead"
STARTED = TurnStarted(
    mode="auto",
    permission_mode="edits",
    max_iters=9,
    definition="w",
    definition_hash="h",
    workspace_sequence=1,
    prompts=(PromptRef(layer="system", hash="ab", size=9),),
)


def child(number: int) -> Scope:
    """Return the scope of one of the lead's workers."""
    return Scope(
        agent=f"writer-{number}",
        thread=f"thr_w{number}",
        task=f"tsk_w{number}",
        parent_thread=THREAD.thread,
        parent_run=RUN.run,
    )


def working(number: int) -> Scope:
    """Return the scope of a worker's run."""
    scope = child(number)
    return Scope(agent=scope.agent, thread=scope.thread, turn=f"trn_w{number}", run=f"run_w{number}")


def join_facts(number: int) -> ScopedFacts:
    """Return the facts of a worker that joins the lead."""
    scope = child(number)
    opened = ThreadOpened(
        agent_name=f"Writer {number}",
        kind="subagent",
        definition="writer",
        definition_hash="h",
        role="writer",
        color="teal",
    )
    spawned = SubagentSpawned(
        role="writer", objective=Text(text="Write it."), isolation="shared", work_globs=("docs/**",), reason="faster"
    )
    task = TaskCreated(
        title="Write it", objective=Text(text="Write it."), assignee=scope.agent, parent_task=PARENT_TASK
    )
    return (task, scope), (opened, scope), (spawned, scope)


def start_facts(number: int) -> ScopedFacts:
    """Return the facts of a worker that gets a slot and requests its model."""
    run = working(number)
    return (
        (TurnSubmitted(input=Text(text="Write it."), mode="auto", permission_mode="edits", source="agent"), run),
        (QueueAdded(position=1), run),
        (SubagentStarted(role="writer", group="local"), child(number)),
        (STARTED, run),
        (
            ModelRequested(provider="local", model="m1", iteration=1, context_through=1),
            within(run, step=1),
        ),
    )


def write_facts(number: int) -> ScopedFacts:
    """Return the facts of a worker that writes a file and ends its turn."""
    run = working(number)
    call = within(run, step=2, tool_call=f"cal_w{number}")
    change = FileChange(path="docs/a.md", kind="created", added=1)
    return (
        (ModelCompleted(stop_reason="tool_calls"), within(run, step=1)),
        (CostRecorded(input_tokens=10, output_tokens=2), within(run, step=1)),
        (ToolStarted(tool="Write"), call),
        (ToolCompleted(output=Text(text="wrote"), changes=(change,)), call),
        (TurnCompleted(iterations=1), run),
    )


def add_facts(story: Story, *said: tuple[Fact, Scope]) -> Story:
    for fact, scope in said:
        story.say(fact, scope)
    return story


def team() -> Story:
    """Return a lead and one worker that has started."""
    story = model_story()
    story.say(TaskCreated(title="Tidy", assignee="solo"), within(RUN, task=PARENT_TASK))
    add_facts(story, *join_facts(1), *start_facts(1))
    opened = ChannelOpened(participants=("solo", "writer-1"))
    story.say(opened, within(RUN, task="tsk_w1", channel="cha_1"))
    load = TeamChanged(
        phase="active", parallel_budget=8, active_count=1, queued_count=0, group="local", group_budget=16
    )
    return story.say(load, THREAD)


def handoff_fact(number: int = 1) -> tuple[Fact, Scope]:
    """Return the worker's report to its parent."""
    fact = HandoffRequested(
        source=f"writer-{number}",
        target="solo",
        to_thread=THREAD.thread,
        edge="report",
        payload=Payload(message="It is written."),
    )
    return fact, within(working(number), handoff=f"han_{number}", task=f"tsk_w{number}")


REVIEW = Scope(agent="solo", thread=THREAD.thread, task="tsk_w1", review="rev_1")


def conforming() -> Story:
    """Return the session of the conformance fixture: delegate, write, hand over, review, merge."""
    story = team()
    said = ChannelMessage(
        item="itm_0",
        source="solo",
        participants=("solo", "writer-1"),
        to_threads=("thr_w1",),
        message=Text(text="Mind the style."),
    )
    story.say(said, within(RUN, task="tsk_w1", channel="cha_1"))
    add_facts(story, *write_facts(1)[:4], handoff_fact(), write_facts(1)[4])
    story.say(ReviewRequested(reviewer="solo", target="writer-1"), REVIEW)
    story.say(ReviewVerdict(reviewer="solo", target="writer-1", verdict="passed", summary="good"), REVIEW)
    usage = WorkUsage(input_tokens=10, output_tokens=2, model_calls=1, tool_calls=1)
    story.say(SubagentCompleted(result=Text(text="It is written."), usage=usage), child(1))
    story.say(TaskCompleted(summary="It is written."), child(1))
    note = WorkerNotification(
        item="itm_1", to_thread=THREAD.thread, status="completed", summary="written", transcript="thr_w1", usage=usage
    )
    story.say(note, child(1))
    load = TeamChanged(phase="merging", parallel_budget=8, active_count=0, queued_count=0)
    story.say(load, THREAD)
    story.say(TurnCompleted(iterations=1), RUN)
    story.say(TaskCompleted(summary="Tidied."), within(THREAD, task=PARENT_TASK))
    return story.say(SnapshotUpdated(through=story.log.sequence), within(THREAD, task=PARENT_TASK))


class _Troupe:
    """A generator of random facts of a team, in any order."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.story = team()
        self.children = 1
        self.count = 0

    def advance(self) -> None:
        self.count += 1
        number = 1 + self.choose(self.children)
        scope, run, name = child(number), working(number), f"{self.count:03}"
        handoff = within(run, handoff=f"han_{1 + self.choose(4)}")
        call = within(run, step=3, tool_call=f"cal_{1 + self.choose(3)}")
        review = within(REVIEW, review=f"rev_{1 + self.choose(3)}", task=scope.task)
        said: list[ScopedFacts] = [
            start_facts(number),
            write_facts(number),
            ((SubagentQueued(queue_reason="parallel_budget", position=1, group="local"), scope),),
            ((SubagentsAwaited(agents=(scope.agent,), mode="all"), call),),
            ((ToolStarted(tool="Bash"), call), (ToolCompleted(output=Text()), call)),
            ((TurnFailed(code="max_iters", message=""), run), (SubagentFailed(code="max_iters", message=""), scope)),
            ((TurnInterrupted(cause="crash"), run),),
            ((SubagentCancelled(reason="enough"), scope), (TaskCancelled(), scope)),
            ((SubagentContinued(), within(scope, task=f"tsk_{name}")),),
            ((SubagentClosed(), scope),),
            ((handoff_fact(number)[0], handoff),),
            ((HandoffAccepted(source="a", target="b", ownership=True, resume_target="solo"), handoff),),
            ((HandoffRejected(source="a", target="b", to_thread=scope.thread), handoff),),
            ((HandoffCompleted(source="a", target="b", returned=True, to_thread=THREAD.thread), handoff),),
            (
                (
                    ReviewRequested(reviewer="solo", target=scope.agent, item=f"itm_{name}", to_thread=THREAD.thread),
                    review,
                ),
            ),
            ((ReviewVerdict(reviewer="solo", target=scope.agent, verdict="changes_requested"), review),),
            ((ReviewApplied(reviewer="solo", target=scope.agent), review),),
            ((TaskUpdated(status="blocked", blocker="no key", comment="Needs a key."), scope),),
            ((TaskFailed(code="max_iters", message=""), scope),),
            (
                (InboxReserved(items=("han_1", f"itm_{name}")), run),
                (InboxConsumed(items=("han_1", f"itm_{name}")), run),
            ),
            ((TeamChanged(phase="waiting", parallel_budget=8, active_count=2, queued_count=1), THREAD),),
            ((TaskCreated(title="More", depends_on=(scope.task,)), Scope(task=f"tsk_{name}")),),
            *self._of_others(scope, run, name),
        ]
        if self.choose(6) == 0:
            self.children += 1
            add_facts(self.story, *join_facts(self.children))
        elif self.choose(8) == 0:
            message = ChannelMessage(
                item=f"itm_{name}",
                source="solo",
                participants=("solo",),
                to_threads=(scope.thread,),
                message=Text(text="Hi"),
            )
            self.story.say(message, within(RUN, channel="cha_1"))
        elif self.choose(8) == 0:
            action = within(run, action=f"act_{name}")
            required = ActionRequired(
                action_type="delegated_permission",
                prompt="May it?",
                decisions=("approve",),
                scopes=("once",),
                risk="low",
            )
            add_facts(self.story, (required, action), (ActionResolved(decision="approve"), action))
        else:
            add_facts(self.story, *said[self.choose(len(said))])

    def _of_others(self, scope: Scope, run: Scope, name: str) -> list[ScopedFacts]:
        """Return facts of a sleeping agent, a remote agent and a retried task, all in the scope of
        the child.
        """
        task = within(scope, task=f"tsk_w{1 + self.choose(2)}", attempt=1 + self.choose(3))
        attempt = within(run, task=task.task, attempt=task.attempt)
        kinds: tuple[AgentKind, ...] = ("main", "remote", "background", "human")
        opened = ThreadOpened(
            agent_name="New",
            kind=kinds[self.choose(4)],
            definition="new",
            definition_hash="h",
            edges=(Edge(to="writer-2"),),
        )
        state: RemoteTaskState = get_args(RemoteTaskState)[self.choose(9)]
        artifact = RemoteArtifact(remote_task_id="rmt_1", remote_artifact_id=f"art_{self.choose(2)}")
        new = Scope(agent=f"new-{name}", thread=f"thr_{name}")
        return [
            ((opened, new), (AgentConnected(provider_session_id="ctx", name="New"), new)),
            ((opened, new), (STARTED, within(new, turn=f"trn_{name}", run=f"run_{name}"))),
            ((AgentSlept(reason="ran", wake_at=9), scope),),
            ((AgentWoke(reason="inbox"), attempt), (STARTED, run)),
            ((AgentModeChanged(mode="ask", model="large"), scope),),
            ((AgentDisconnected(provider_session_id="ctx"), scope),),
            ((RemoteTaskChanged(remote_task_id="rmt_1", state=state), run), (artifact, run)),
            ((TaskStarted(assignee=scope.agent), within(attempt, run="")), (STARTED, run)),
            ((TaskPaused(reason="lunch"), task),),
            ((TaskResumed(), task),),
            ((TaskCancelRequested(), task),),
            ((TaskUpdated(phase="reading", counters={"files": 1}, refs=(), parent_task="tsk_w1"), task),),
            ((TaskCompleted(), task),),
            ((PlanUpdated(steps=(PlanStep("Look", "pending"),), final=bool(self.choose(2))), within(run, step=9)),),
            ((EdgeAdded(source=scope.agent, edge=Edge(to="solo")), scope),),
            ((ReplyEnded(end="expired", to_thread=THREAD.thread), within(run, handoff="han_1")),),
            ((InboxReserved(items=("han_1", "han_2")), RUN), (InboxConsumed(items=("han_1",)), RUN)),
        ]


def play(choose: Choose, moves: int) -> History:
    """Return a team with this number of moves."""
    troupe = _Troupe(choose)
    for _ in range(moves):
        troupe.advance()
    return History(live=tuple(troupe.story.log.items))


@st.composite
def troupes(draw: st.DrawFn, *, largest: int = 40) -> History:
    """Generate teams that hypothesis can shrink."""
    return play(lambda bound: draw(st.integers(0, bound - 1)), draw(st.integers(0, largest)))


def specialist_fact(name: str, *edges: Edge) -> tuple[ThreadOpened, Scope]:
    """Return the fact of a main agent with this name."""
    opened = ThreadOpened(agent_name=name, kind="main", definition=name, definition_hash="h", edges=edges)
    return opened, Scope(agent=name, thread=f"thr_{name}")


def records_of(story: Story) -> tuple[Record, ...]:
    """Return the facts."""
    return tuple(item for item in story.log.items if isinstance(item, Record))
