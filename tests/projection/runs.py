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
    PlanUpdated,
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

Play = Generator[None, None, None]
Piece = tuple[PartialKind, Scope, str]


class Log:
    """A log of facts and frames."""

    def __init__(self, stream: str = SESSION) -> None:
        self.stream = stream
        self.items: list[Record | Frame] = []
        self.sequence = 0
        self.at = 1_700_000_000_000_000
        self.epoch = 1

    def say(self, fact: Fact, scope: Scope = NOWHERE) -> Record:
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


def within(scope: Scope, **ids: str | int) -> Scope:
    """Return the scope with other or more ids."""
    return msgspec.structs.replace(scope, **ids)


class Thread(msgspec.Struct):
    scope: Scope
    queue: list[str] = msgspec.field(default_factory=list[str])
    paused: bool = False
    stop: Literal["", "person", "crash"] = ""
    running: Play | None = None
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

    def __init__(self, log: Log, choose: Choose, new: Callable[[str], str], thread: Thread, scope: Scope) -> None:
        self.log, self.choose, self.new = log, choose, new
        self.thread, self.scope = thread, scope
        self.step = 0
        self.iteration = 0
        self.answer: list[int] = []
        self.calls: list[Call] = []
        self.cut: list[Piece] = []
        self.model: Scope | None = None
        self.plan: Scope | None = None

    def play(self) -> Play:
        model = Candidate(provider="scripted", model="m")
        started = TurnStarted(
            mode="chat",
            permission_mode="ask",
            max_iters=4,
            definition="solo",
            definition_hash="d",
            workspace_sequence=1,
        )
        self.log.say(started, self.scope)
        self.log.say(RoutingResolved(candidates=(model,), chosen=model, reason="the only one"), self.scope)
        try:
            while (yield from self._answer()):
                yield from self._call_tools()
            self._settle_steers("turn_completed")
            self.log.say(OutputFinal(parts=tuple(self.answer)), self.scope)
            self.log.say(TurnCompleted(iterations=self.iteration), self.scope)
        except Stopped:
            self._stop()
        except Failed:
            self._settle_steers("turn_failed")
            self.log.say(TurnFailed(code="model_unavailable", message="No answer.", retryable=True), self.scope)
            if self.thread.queue:
                self.thread.paused = True
                self.log.say(ThreadPaused(cause="failed", reason="model_unavailable"), self.thread.scope)

    def _pause(self) -> Play:
        yield
        if self.thread.stop:
            raise Stopped

    def _next(self, **ids: str) -> Scope:
        self.step += 1
        return within(self.scope, step=self.step, **ids)

    def _answer(self) -> Generator[None, None, bool]:
        """Run a model call. Return whether it calls tools."""
        if self.iteration == 4:
            raise Failed
        self.iteration += 1
        self.model = self._next()
        for steer in self.thread.steers:
            self.log.say(SteerAccepted(steer_id=steer), self.model)
        self.thread.steers.clear()
        requested = ModelRequested(
            provider="scripted", model="m", iteration=self.iteration, context_through=self.log.sequence
        )
        self.log.say(requested, self.model)
        yield from self._pause()
        yield from self._attempts(self.model)
        parts: list[Piece] = []
        if self.choose(2):
            parts.append((yield from self._stream("reasoning", self._next())))
        if self.choose(3):
            parts.append((yield from self._stream("text", self._next())))
        wanted = min(self.choose(4), 2)
        calls = [self._next(tool_call=self.new("cal")) for _ in range(wanted)]
        for scope in calls:
            yield from self._stream("arguments", scope, tool="Write")
        self._finish(parts)
        for scope in calls:
            self._request(scope)
        return bool(calls)

    def _attempts(self, model: Scope) -> Play:
        """Fail some attempts. Their streamed text is dropped."""
        for attempt in range(1, 3):
            if self.choose(6) < 5:
                return
            if self.choose(2):
                yield from self._stream("text", self._next())
                self.cut.clear()
            failed = ModelFailed(code="model_unavailable", message="Busy.", attempt=attempt, retry_in_ms=100)
            self.log.say(failed, model)
            yield from self._pause()
        if self.choose(3) == 2:
            self.log.say(ModelFailed(code="model_unavailable", message="Down.", attempt=3), model)
            self.model = None
            raise Failed

    def _stream(self, kind: PartialKind, scope: Scope, tool: str = "") -> Generator[None, None, Piece]:
        pieces = [WORDS[self.choose(len(WORDS))] for _ in range(1 + self.choose(4))]
        self.cut.append((kind, scope, ""))
        for piece in pieces:
            text = self.cut[-1][2]
            self.log.frame(kind, scope, len(text), piece, tool)
            self.cut[-1] = (kind, scope, text + piece)
            yield from self._pause()
        return self.cut[-1]

    def _finish(self, parts: list[Piece]) -> None:
        for kind, scope, text in parts:
            if kind == "text":
                self.answer.append(scope.step)
                self.log.say(MessageText(content=Text(text=text)), scope)
            else:
                self.log.say(ReasoningCompleted(content=Text(text=text)), scope)
        self.cut.clear()
        assert self.model is not None
        self.log.say(ModelCompleted(stop_reason="stop", first_ms=3, duration_ms=9), self.model)
        self.log.say(CostRecorded(input_tokens=10, output_tokens=None if self.choose(2) else 5), self.model)
        if self.choose(8) == 7:
            self.log.say(QuotaReported(provider="cloud", limits=LOW), self.model)
        if self.choose(8) == 7:
            self.log.say(WarningRaised(code="answer_cut", message="Cut."), self.model)
        if self.choose(8) == 7:
            self._plan()
        if self.choose(8) == 7:
            self._tell()
        self.model = None

    def _plan(self) -> None:
        """Record the agent's plan, which keeps the step of its first version."""
        self.plan = self.plan or self._next()
        steps = tuple(PlanStep(f"Part {number}", "pending") for number in range(self.choose(3)))
        self.log.say(PlanUpdated(steps=steps, final=bool(self.choose(2))), self.plan)

    def _tell(self) -> None:
        """Record a remote task's state or an artifact of it."""
        task, state = f"rmt_{self.choose(2)}", get_args(RemoteTaskState)[self.choose(9)]
        if self.choose(3) == 2:
            part = RemotePart(media="text/plain", text=Text(text="of it"))
            artifact = RemoteArtifact(
                remote_task_id=task, remote_artifact_id=f"art_{self.choose(2)}", name="report", parts=(part,)
            )
            self.log.say(artifact, self.scope)
        else:
            self.log.say(RemoteTaskChanged(remote_task_id=task, state=state), self.scope)

    def _request(self, scope: Scope) -> None:
        tool = TOOLS[self.choose(len(TOOLS))]
        call = Call(scope=scope, tool=tool)
        self.answer.clear()
        self.log.say(ToolRequested(tool=tool, arguments=Text(text="{}"), summary=f"{tool} it"), scope)
        verdict: Literal["allow", "ask", "deny"] = ("allow", "ask", "deny")[self.choose(3)]
        evaluated = PermissionEvaluated(tool=tool, verdict=verdict, risk="low", arguments_hash="h", checks=())
        self.log.say(evaluated, scope)
        if verdict == "deny":
            self.log.say(ToolRefused(code="rule_denied", message="No."), scope)
            return
        self.calls.append(call)
        if verdict == "allow":
            self._let_through(call)
            return
        call.phase = "waiting"
        call.scope = self._next(tool_call=scope.tool_call, action=self.new("act"))
        required = ActionRequired(
            action_type="tool_approval",
            prompt=f"May it {tool}?",
            decisions=("approve", "reject"),
            scopes=("once", "session"),
            risk="low",
            tool=tool,
        )
        self.log.say(required, call.scope)

    def _let_through(self, call: Call) -> None:
        call.phase = "running"
        call.scope = within(call.scope, action="")
        self.log.say(SandboxApplied(level="paths", network=False), call.scope)
        self.log.say(ToolStarted(tool=call.tool), call.scope)

    def _call_tools(self) -> Play:
        while self.calls:
            yield from self._pause()
            call = self.calls[self.choose(len(self.calls))]
            if call.phase == "waiting":
                self._resolve(call)
            else:
                if self.choose(3):
                    yield from self._stream("output", call.scope)
                    self.cut.clear()
                self._end(call, self._outcome())

    def _outcome(self) -> Fact:
        change = FileChange(path=f"f{self.choose(2)}", kind="modified", added=1)
        if self.choose(4) == 3:
            return ToolFailed(code="tool_failed", message="It broke.", exit_code=1)
        return ToolCompleted(output=Text(text="done"), duration_ms=4, changes=(change,))

    def _resolve(self, call: Call) -> None:
        match self.choose(5):
            case 3:
                self.log.say(ActionResolved(decision="reject", reason="no"), call.scope)
                self._end(call, ToolRefused(code="person_denied", message="No."))
            case 4:
                self.log.say(ActionExpired(), call.scope)
                self._end(call, ToolRefused(code="approval_expired", message="Nobody answered."))
            case 2:
                self.log.say(ActionResolved(decision="approve", scope="session"), call.scope)
                rule = Rule(rule_id=self.new("rul"), matcher=call.tool, verdict="allow", scope="session")
                self.log.say(PermissionRuleAdded(rule=rule), call.scope)
                self._let_through(call)
            case _:
                self.log.say(ActionResolved(decision="approve"), call.scope)
                self._let_through(call)

    def _end(self, call: Call, fact: Fact) -> None:
        self.calls.remove(call)
        self.log.say(fact, within(call.scope, action=""))

    def _stop(self) -> None:
        """End every open entity, and then the turn."""
        crash = self.thread.stop == "crash"
        if self.model is not None:
            for kind, scope, text in self.cut:
                if kind == "text":
                    self.log.say(MessageInterrupted(content=Text(text=text)), scope)
                elif kind == "reasoning":
                    self.log.say(ReasoningInterrupted(content=Text(text=text)), scope)
            self.log.say(ModelInterrupted(), self.model)
        for call in self.calls:
            started = call.phase == "running"
            if call.phase == "waiting":
                self.log.say(ActionWithdrawn(reason="the turn was interrupted"), call.scope)
            scope = within(call.scope, action="")
            if started and crash:
                self.log.say(ToolLost(), scope)
            else:
                self.log.say(ToolCancelled(started=started, output=Text(text="so far")), scope)
        self._settle_steers("turn_interrupted")
        cause: Literal["person", "crash"] = "crash" if crash else "person"
        self.log.say(TurnInterrupted(cause=cause, reason="stopped", iterations=self.iteration), self.scope)

    def _settle_steers(self, reason: Literal["turn_completed", "turn_failed", "turn_interrupted"]) -> None:
        for steer, text in self.thread.steers.items():
            self.log.say(SteerRejected(steer_id=steer, input=text, reason=reason), self.scope)
        self.thread.steers.clear()
