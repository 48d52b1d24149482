"""One run of the random sessions in `histories`, and the log that it writes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Literal, get_args

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.agent import RemoteArtifact, RemotePart, RemoteTaskChanged
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import (
    MessageInterrupted,
    MessageText,
    OutputFinal,
    ReasoningCompleted,
    ReasoningInterrupted,
)
from callboard.contracts.facts.model import (
    Candidate,
    CostRecorded,
    Limit,
    ModelCompleted,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    QuotaReported,
    RoutingResolved,
)
from callboard.contracts.facts.permission import PermissionEvaluated, PermissionRuleAdded, Rule
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.queue import SteerAccepted, SteerRejected
from callboard.contracts.facts.session import ThreadPaused, WarningRaised
from callboard.contracts.facts.tool import (
    FileChange,
    SandboxApplied,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted, TurnSubmitted
from callboard.contracts.live import Frame, PartialKind
from callboard.contracts.record import NewFact, Origin, Record, build_header
from callboard.contracts.scope import PERSON, Scope

#: Returns a number from 0 to below the bound. 0 is the ordinary choice.
Choose = Callable[[int], int]

SESSION = "ses_history"
NOWHERE = Scope()
TOOLS = ("Read", "Write", "Bash")
LOW = (Limit(what="tokens", limit=100, remaining=3),)
WORDS = ("The ", "stage ", "is ", "set, ", "the ", "call ", "is ", "given 😀. ")

Steps = Generator[None, None, None]
Piece = tuple[PartialKind, Scope, str]


class Log:
    """A log of facts and frames."""

    def __init__(self, stream: str = SESSION) -> None:
        self.stream = stream
        self.items: list[Record | Frame] = []
        self.sequence = 0
        self.at = 1_700_000_000_000_000
        self.epoch = 1

    def add(self, fact: Fact, scope: Scope = NOWHERE) -> Record:
        """Append the next fact of the stream.

        Raises:
            ValueError: The scope lacks an id that the fact needs.
        """
        self.sequence += 1
        self.at += 1_000
        actor = PERSON if isinstance(fact, ActionResolved | TurnSubmitted) else None
        header = build_header(NewFact(fact, scope), Origin(at=self.at, actor=actor), self.epoch)
        record = Record(stream=self.stream, sequence=self.sequence, header=header, link=b"", fact=fact)
        self.items.append(record)
        return record

    def frame(self, kind: PartialKind, scope: Scope, offset: int, text: str, tool: str = "") -> None:
        self.items.append(Frame(kind=kind, scope=scope, offset=offset, text=text, tool=tool))


def with_ids(scope: Scope, **ids: str | int) -> Scope:
    """Return the scope with other or more ids."""
    return msgspec.structs.replace(scope, **ids)


class Thread(msgspec.Struct):
    scope: Scope
    queue: list[str] = msgspec.field(default_factory=list[str])
    paused: bool = False
    stop: Literal["", "person", "crash"] = ""
    running: Steps | None = None
    run: Scope | None = None
    steers: dict[str, Text] = msgspec.field(default_factory=dict[str, Text])


class Call(msgspec.Struct):
    scope: Scope
    tool: str
    phase: Literal["requested", "waiting", "running"] = "requested"


class Stopped(Exception):
    """The run was interrupted."""


class Failed(Exception):
    """The run failed."""


class Run:
    """One run from start to end."""

    def __init__(self, log: Log, choose: Choose, new_id: Callable[[str], str], thread: Thread, scope: Scope) -> None:
        self.log, self.choose, self.new_id = log, choose, new_id
        self.thread, self.scope = thread, scope
        self.step = 0
        self.iteration = 0
        self.answer: list[int] = []
        self.calls: list[Call] = []
        self.partials: list[Piece] = []
        self.model: Scope | None = None
        self.plan: Scope | None = None

    def execute(self) -> Steps:
        model = Candidate(provider="scripted", model="m")
        started = TurnStarted(
            mode="chat",
            permission_mode="ask",
            max_iters=4,
            definition="solo",
            definition_hash="d",
            workspace_sequence=1,
        )
        self.log.add(started, self.scope)
        self.log.add(RoutingResolved(candidates=(model,), chosen=model, reason="the only one"), self.scope)
        try:
            while (yield from self._call_model()):
                yield from self._call_tools()
            self._settle_steers("turn_completed")
            self.log.add(OutputFinal(parts=tuple(self.answer)), self.scope)
            self.log.add(TurnCompleted(iterations=self.iteration), self.scope)
        except Stopped:
            self._end_early()
        except Failed:
            self._settle_steers("turn_failed")
            self.log.add(TurnFailed(code="model_unavailable", message="No answer.", retryable=True), self.scope)
            if self.thread.queue:
                self.thread.paused = True
                self.log.add(ThreadPaused(cause="failed", reason="model_unavailable"), self.thread.scope)

    def _pause(self) -> Steps:
        yield
        if self.thread.stop:
            raise Stopped

    def _next_step(self, **ids: str) -> Scope:
        self.step += 1
        return with_ids(self.scope, step=self.step, **ids)

    def _call_model(self) -> Generator[None, None, bool]:
        """Run a model call. Return whether it calls tools."""
        if self.iteration == 4:
            raise Failed
        self.iteration += 1
        self.model = self._next_step()
        for steer in self.thread.steers:
            self.log.add(SteerAccepted(steer_id=steer), self.model)
        self.thread.steers.clear()
        requested = ModelRequested(
            provider="scripted", model="m", iteration=self.iteration, context_through=self.log.sequence
        )
        self.log.add(requested, self.model)
        yield from self._pause()
        yield from self._fail_attempts(self.model)
        parts: list[Piece] = []
        if self.choose(2):
            parts.append((yield from self._stream("reasoning", self._next_step())))
        if self.choose(3):
            parts.append((yield from self._stream("text", self._next_step())))
        wanted = min(self.choose(4), 2)
        calls = [self._next_step(tool_call=self.new_id("cal")) for _ in range(wanted)]
        for scope in calls:
            yield from self._stream("arguments", scope, tool="Write")
        self._finish_answer(parts)
        for scope in calls:
            self._request(scope)
        return bool(calls)

    def _fail_attempts(self, model: Scope) -> Steps:
        """Fail some attempts. Their streamed text is dropped."""
        for attempt in range(1, 3):
            if self.choose(6) < 5:
                return
            if self.choose(2):
                yield from self._stream("text", self._next_step())
                self.partials.clear()
            failed = ModelFailed(code="model_unavailable", message="Busy.", attempt=attempt, retry_in_ms=100)
            self.log.add(failed, model)
            yield from self._pause()
        if self.choose(3) == 2:
            self.log.add(ModelFailed(code="model_unavailable", message="Down.", attempt=3), model)
            self.model = None
            raise Failed

    def _stream(self, kind: PartialKind, scope: Scope, tool: str = "") -> Generator[None, None, Piece]:
        pieces = [WORDS[self.choose(len(WORDS))] for _ in range(1 + self.choose(4))]
        self.partials.append((kind, scope, ""))
        for piece in pieces:
            text = self.partials[-1][2]
            self.log.frame(kind, scope, len(text), piece, tool)
            self.partials[-1] = (kind, scope, text + piece)
            yield from self._pause()
        return self.partials[-1]

    def _finish_answer(self, parts: list[Piece]) -> None:
        for kind, scope, text in parts:
            if kind == "text":
                self.answer.append(scope.step)
                self.log.add(MessageText(content=Text(text=text)), scope)
            else:
                self.log.add(ReasoningCompleted(content=Text(text=text)), scope)
        self.partials.clear()
        assert self.model is not None
        self.log.add(ModelCompleted(stop_reason="stop", first_ms=3, duration_ms=9), self.model)
        self.log.add(CostRecorded(input_tokens=10, output_tokens=None if self.choose(2) else 5), self.model)
        if self.choose(8) == 7:
            self.log.add(QuotaReported(provider="cloud", limits=LOW), self.model)
        if self.choose(8) == 7:
            self.log.add(WarningRaised(code="answer_cut", message="Cut."), self.model)
        if self.choose(8) == 7:
            self._update_plan()
        if self.choose(8) == 7:
            self._report_remote_task()
        self.model = None

    def _update_plan(self) -> None:
        """Record the agent's plan, which keeps the step of its first version."""
        self.plan = self.plan or self._next_step()
        steps = tuple(PlanStep(f"Part {number}", "pending") for number in range(self.choose(3)))
        self.log.add(PlanUpdated(steps=steps, final=bool(self.choose(2))), self.plan)

    def _report_remote_task(self) -> None:
        """Record a remote task's state or an artifact of it."""
        task, state = f"rmt_{self.choose(2)}", get_args(RemoteTaskState)[self.choose(9)]
        if self.choose(3) == 2:
            part = RemotePart(media="text/plain", text=Text(text="of it"))
            artifact = RemoteArtifact(
                remote_task_id=task, remote_artifact_id=f"art_{self.choose(2)}", name="report", parts=(part,)
            )
            self.log.add(artifact, self.scope)
        else:
            self.log.add(RemoteTaskChanged(remote_task_id=task, state=state), self.scope)

    def _request(self, scope: Scope) -> None:
        tool = TOOLS[self.choose(len(TOOLS))]
        call = Call(scope=scope, tool=tool)
        self.answer.clear()
        self.log.add(ToolRequested(tool=tool, arguments=Text(text="{}"), summary=f"{tool} it"), scope)
        verdict: Literal["allow", "ask", "deny"] = ("allow", "ask", "deny")[self.choose(3)]
        evaluated = PermissionEvaluated(tool=tool, verdict=verdict, risk="low", arguments_hash="h", checks=())
        self.log.add(evaluated, scope)
        if verdict == "deny":
            self.log.add(ToolRefused(code="rule_denied", message="No."), scope)
            return
        self.calls.append(call)
        if verdict == "allow":
            self._start_call(call)
            return
        call.phase = "waiting"
        call.scope = self._next_step(tool_call=scope.tool_call, action=self.new_id("act"))
        required = ActionRequired(
            action_type="tool_approval",
            prompt=f"May it {tool}?",
            decisions=("approve", "reject"),
            scopes=("once", "session"),
            risk="low",
            tool=tool,
        )
        self.log.add(required, call.scope)

    def _start_call(self, call: Call) -> None:
        call.phase = "running"
        call.scope = with_ids(call.scope, action="")
        self.log.add(SandboxApplied(level="paths", network=False), call.scope)
        self.log.add(ToolStarted(tool=call.tool), call.scope)

    def _call_tools(self) -> Steps:
        while self.calls:
            yield from self._pause()
            call = self.calls[self.choose(len(self.calls))]
            if call.phase == "waiting":
                self._answer_request(call)
            else:
                if self.choose(3):
                    yield from self._stream("output", call.scope)
                    self.partials.clear()
                self._end_call(call, self._draw_outcome())

    def _draw_outcome(self) -> Fact:
        change = FileChange(path=f"f{self.choose(2)}", kind="modified", added=1)
        if self.choose(4) == 3:
            return ToolFailed(code="tool_failed", message="It broke.", exit_code=1)
        return ToolCompleted(output=Text(text="done"), duration_ms=4, changes=(change,))

    def _answer_request(self, call: Call) -> None:
        match self.choose(5):
            case 3:
                self.log.add(ActionResolved(decision="reject", reason="no"), call.scope)
                self._end_call(call, ToolRefused(code="person_denied", message="No."))
            case 4:
                self.log.add(ActionExpired(), call.scope)
                self._end_call(call, ToolRefused(code="approval_expired", message="No answer arrived."))
            case 2:
                self.log.add(ActionResolved(decision="approve", scope="session"), call.scope)
                rule = Rule(rule_id=self.new_id("rul"), matcher=call.tool, verdict="allow", scope="session")
                self.log.add(PermissionRuleAdded(rule=rule), call.scope)
                self._start_call(call)
            case _:
                self.log.add(ActionResolved(decision="approve"), call.scope)
                self._start_call(call)

    def _end_call(self, call: Call, fact: Fact) -> None:
        self.calls.remove(call)
        self.log.add(fact, with_ids(call.scope, action=""))

    def _end_early(self) -> None:
        """End every open entity, and then the turn."""
        crash = self.thread.stop == "crash"
        if self.model is not None:
            for kind, scope, text in self.partials:
                if kind == "text":
                    self.log.add(MessageInterrupted(content=Text(text=text)), scope)
                elif kind == "reasoning":
                    self.log.add(ReasoningInterrupted(content=Text(text=text)), scope)
            self.log.add(ModelInterrupted(), self.model)
        for call in self.calls:
            started = call.phase == "running"
            if call.phase == "waiting":
                self.log.add(ActionWithdrawn(reason="the turn was interrupted"), call.scope)
            scope = with_ids(call.scope, action="")
            if started and crash:
                self.log.add(ToolLost(), scope)
            else:
                self.log.add(ToolCancelled(started=started, output=Text(text="so far")), scope)
        self._settle_steers("turn_interrupted")
        cause: Literal["person", "crash"] = "crash" if crash else "person"
        self.log.add(TurnInterrupted(cause=cause, reason="stopped", iterations=self.iteration), self.scope)

    def _settle_steers(self, reason: Literal["turn_completed", "turn_failed", "turn_interrupted"]) -> None:
        for steer, text in self.thread.steers.items():
            self.log.add(SteerRejected(steer_id=steer, input=text, reason=reason), self.scope)
        self.thread.steers.clear()
