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
from callboard.contracts.facts.exchange.channel import ChannelMessage, ChannelOpened
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewRequested, ReviewVerdict
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested
from callboard.contracts.facts.plan import PlanUpdated
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
from callboard.contracts.scope import Scope
from tests.projection.histories import History
from tests.projection.runs import Choose, with_ids
from tests.projection.session_builder import RUN, THREAD, SessionBuilder, model_session

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


def child_scope(number: int) -> Scope:
    """Return the scope of one of the lead's workers."""
    return Scope(
        agent=f"writer-{number}",
        thread=f"thr_w{number}",
        task=f"tsk_w{number}",
        parent_thread=THREAD.thread,
        parent_run=RUN.run,
    )


def child_run(number: int) -> Scope:
    """Return the scope of a worker's run."""
    scope = child_scope(number)
    return Scope(agent=scope.agent, thread=scope.thread, turn=f"trn_w{number}", run=f"run_w{number}")


def join_facts(number: int) -> ScopedFacts:
    """Return the facts of a worker that joins the lead."""
    scope = child_scope(number)
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
    run = child_run(number)
    return (
        (TurnSubmitted(input=Text(text="Write it."), mode="auto", permission_mode="edits", source="agent"), run),
        (QueueAdded(position=1), run),
        (SubagentStarted(role="writer", group="local"), child_scope(number)),
        (STARTED, run),
        (
            ModelRequested(provider="local", model="m1", iteration=1, context_through=1),
            with_ids(run, step=1),
        ),
    )


def write_facts(number: int) -> ScopedFacts:
    """Return the facts of a worker that writes a file and ends its turn."""
    run = child_run(number)
    call = with_ids(run, step=2, tool_call=f"cal_w{number}")
    change = FileChange(path="docs/a.md", kind="created", added=1)
    return (
        (ModelCompleted(stop_reason="tool_calls"), with_ids(run, step=1)),
        (CostRecorded(input_tokens=10, output_tokens=2), with_ids(run, step=1)),
        (ToolStarted(tool="Write"), call),
        (ToolCompleted(output=Text(text="wrote"), changes=(change,)), call),
        (TurnCompleted(iterations=1), run),
    )


def add_facts(session: SessionBuilder, *facts: tuple[Fact, Scope]) -> SessionBuilder:
    for fact, scope in facts:
        session.add(fact, scope)
    return session


def team_session() -> SessionBuilder:
    """Return a lead and one worker that has started."""
    session = model_session()
    session.add(TaskCreated(title="Tidy", assignee="solo"), with_ids(RUN, task=PARENT_TASK))
    add_facts(session, *join_facts(1), *start_facts(1))
    opened = ChannelOpened(participants=("solo", "writer-1"))
    session.add(opened, with_ids(RUN, task="tsk_w1", channel="cha_1"))
    load = TeamChanged(
        phase="active", parallel_budget=8, active_count=1, queued_count=0, group="local", group_budget=16
    )
    return session.add(load, THREAD)


def handoff_fact(number: int = 1) -> tuple[Fact, Scope]:
    """Return the worker's report to its parent."""
    fact = HandoffRequested(
        source=f"writer-{number}",
        target="solo",
        to_thread=THREAD.thread,
        edge="report",
        payload=Payload(message="It is written."),
    )
    return fact, with_ids(child_run(number), handoff=f"han_{number}", task=f"tsk_w{number}")


REVIEW = Scope(agent="solo", thread=THREAD.thread, task="tsk_w1", review="rev_1")


def conformance_session() -> SessionBuilder:
    """Return the session of the conformance fixture: delegate, write, hand over, review, merge."""
    session = team_session()
    message = ChannelMessage(
        item="itm_0",
        source="solo",
        participants=("solo", "writer-1"),
        to_threads=("thr_w1",),
        message=Text(text="Mind the style."),
    )
    session.add(message, with_ids(RUN, task="tsk_w1", channel="cha_1"))
    add_facts(session, *write_facts(1)[:4], handoff_fact(), write_facts(1)[4])
    session.add(ReviewRequested(reviewer="solo", target="writer-1"), REVIEW)
    session.add(ReviewVerdict(reviewer="solo", target="writer-1", verdict="passed", summary="good"), REVIEW)
    usage = WorkUsage(input_tokens=10, output_tokens=2, model_calls=1, tool_calls=1)
    session.add(SubagentCompleted(result=Text(text="It is written."), usage=usage), child_scope(1))
    session.add(TaskCompleted(summary="It is written."), child_scope(1))
    note = WorkerNotification(
        item="itm_1", to_thread=THREAD.thread, status="completed", summary="written", transcript="thr_w1", usage=usage
    )
    session.add(note, child_scope(1))
    load = TeamChanged(phase="merging", parallel_budget=8, active_count=0, queued_count=0)
    session.add(load, THREAD)
    session.add(TurnCompleted(iterations=1), RUN)
    session.add(TaskCompleted(summary="Tidied."), with_ids(THREAD, task=PARENT_TASK))
    return session.add(SnapshotUpdated(through=session.log.sequence), with_ids(THREAD, task=PARENT_TASK))


class _RandomTeam:
    """A generator of random facts of a team, in any order."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.session = team_session()
        self.children = 1
        self.count = 0

    def advance(self) -> None:
        self.count += 1
        number = 1 + self.choose(self.children)
        scope, run, name = child_scope(number), child_run(number), f"{self.count:03}"
        handoff = with_ids(run, handoff=f"han_{1 + self.choose(4)}")
        call = with_ids(run, step=3, tool_call=f"cal_{1 + self.choose(3)}")
        review = with_ids(REVIEW, review=f"rev_{1 + self.choose(3)}", task=scope.task)
        choices: list[ScopedFacts] = [
            start_facts(number),
            write_facts(number),
            ((SubagentQueued(queue_reason="parallel_budget", position=1, group="local"), scope),),
            ((SubagentsAwaited(agents=(scope.agent,), mode="all"), call),),
            ((ToolStarted(tool="Bash"), call), (ToolCompleted(output=Text()), call)),
            ((TurnFailed(code="max_iters", message=""), run), (SubagentFailed(code="max_iters", message=""), scope)),
            ((TurnInterrupted(cause="crash"), run),),
            ((SubagentCancelled(reason="enough"), scope), (TaskCancelled(), scope)),
            ((SubagentContinued(), with_ids(scope, task=f"tsk_{name}")),),
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
            *self._list_other_facts(scope, run, name),
        ]
        if self.choose(6) == 0:
            self.children += 1
            add_facts(self.session, *join_facts(self.children))
        elif self.choose(8) == 0:
            message = ChannelMessage(
                item=f"itm_{name}",
                source="solo",
                participants=("solo",),
                to_threads=(scope.thread,),
                message=Text(text="Hi"),
            )
            self.session.add(message, with_ids(RUN, channel="cha_1"))
        elif self.choose(8) == 0:
            action = with_ids(run, action=f"act_{name}")
            required = ActionRequired(
                action_type="delegated_permission",
                prompt="May it?",
                decisions=("approve",),
                scopes=("once",),
                risk="low",
            )
            add_facts(self.session, (required, action), (ActionResolved(decision="approve"), action))
        else:
            add_facts(self.session, *choices[self.choose(len(choices))])

    def _list_other_facts(self, scope: Scope, run: Scope, name: str) -> list[ScopedFacts]:
        """Return facts of a sleeping agent, a remote agent and a retried task, all in the scope of
        the child.
        """
        task = with_ids(scope, task=f"tsk_w{1 + self.choose(2)}", attempt=1 + self.choose(3))
        attempt = with_ids(run, task=task.task, attempt=task.attempt)
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
            ((opened, new), (STARTED, with_ids(new, turn=f"trn_{name}", run=f"run_{name}"))),
            ((AgentSlept(reason="ran", wake_at=9), scope),),
            ((AgentWoke(reason="inbox"), attempt), (STARTED, run)),
            ((AgentModeChanged(mode="ask", model="large"), scope),),
            ((AgentDisconnected(provider_session_id="ctx"), scope),),
            ((RemoteTaskChanged(remote_task_id="rmt_1", state=state), run), (artifact, run)),
            ((TaskStarted(assignee=scope.agent), with_ids(attempt, run="")), (STARTED, run)),
            ((TaskPaused(reason="lunch"), task),),
            ((TaskResumed(), task),),
            ((TaskCancelRequested(), task),),
            ((TaskUpdated(phase="reading", counters={"files": 1}, refs=(), parent_task="tsk_w1"), task),),
            ((TaskCompleted(), task),),
            ((PlanUpdated(steps=(PlanStep("Look", "pending"),), final=bool(self.choose(2))), with_ids(run, step=9)),),
            ((EdgeAdded(source=scope.agent, edge=Edge(to="solo")), scope),),
            ((ReplyEnded(end="expired", to_thread=THREAD.thread), with_ids(run, handoff="han_1")),),
            ((InboxReserved(items=("han_1", "han_2")), RUN), (InboxConsumed(items=("han_1",)), RUN)),
        ]


def generate_team(choose: Choose, moves: int) -> History:
    """Return a team with this number of moves."""
    team = _RandomTeam(choose)
    for _ in range(moves):
        team.advance()
    return History(live=tuple(team.session.log.items))


@st.composite
def team_histories(draw: st.DrawFn, *, largest: int = 40) -> History:
    """Generate teams that hypothesis can shrink."""
    return generate_team(lambda bound: draw(st.integers(0, bound - 1)), draw(st.integers(0, largest)))


def specialist_fact(name: str, *edges: Edge) -> tuple[ThreadOpened, Scope]:
    """Return the fact of a main agent with this name."""
    opened = ThreadOpened(agent_name=name, kind="main", definition=name, definition_hash="h", edges=edges)
    return opened, Scope(agent=name, thread=f"thr_{name}")
