"""What an agent of its own program does in one prompt: calls of its tools, and what it asks of us."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import Fact, ToolCompleted, ToolFailed, ToolRefused, ToolStarted
from callboard.contracts.ports.external import (
    ExternalCall,
    ExternalSession,
    PermissionRequested,
    ReadRequested,
    WriteRequested,
)
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalCallReported, RequestedCall, ToolEnded
from callboard.tools.builtin.folder_files import FolderFiles
from callboard.tools.gate import external_calls

from ..secrets.append_redactor import redact_json
from ..sessions.external_agents import ExpectedCall
from ..sessions.gate_decisions import GateCheck
from ..sessions.host import SessionHost
from .approved_writes import ApprovedWrites, apply_approval
from .file_contents import with_contents
from .message_assembler import MessageAssembler
from .prompt_tasks import PromptTasks

UNTOLD = "The agent ended its turn without telling what came of this call."
ASKED_AGAIN = "The agent asked for permission again within this call. What came of it before is not known."
FAILED = "The agent says that it failed."
STOPPED = "The turn was stopped."


@dataclass
class _Call:
    """A call of the agent's own tools. It is held back until it goes on, since its arguments may still come; it waits for a
    person; the agent runs it; or it is over. `is_overdue`: it has gone on for `limits.external_grace` without a question.
    `is_deferred`: the agent said more before it began the call, which takes its step when it is heard of again."""

    call: str
    step: int
    told: ExternalCall
    began: float
    state: Literal["held", "waits", "runs", "over"] = "held"
    is_timed: bool = False
    is_overdue: bool = False
    is_deferred: bool = False
    writes: ApprovedWrites = field(default_factory=ApprovedWrites)


class ExternalCalls:
    """The calls of one prompt. `asks` are the tasks that wait for an answer for the agent. `refused` says that the newest
    call was refused."""

    def __init__(
        self, host: SessionHost, scope: Scope, speech: MessageAssembler, context: ToolContext, asks: PromptTasks
    ) -> None:
        self._asks = asks
        self.refused = False
        self._host = host
        self._scope = scope
        self._speech = speech
        self._context = context
        self._calls: dict[str, _Call] = {}

    async def update(self, call: ExternalCall) -> None:
        """A call began, went on or ended."""
        known = await self._known(call)
        if call.status == "pending" or known.state in ("over", "waits"):
            return
        if known.state == "held" and call.status == "in_progress" and not call.output:
            # Some agents report that a call is running, and then ask for permission.
            if not known.is_timed:
                known.is_timed = True
                self._asks.start(self._expire(known))
            return
        if known.state == "held":
            await self.record_held(through=known.step)
        if call.status in ("completed", "failed"):
            await self._over(known)

    async def record_overdue(self) -> None:
        """Record the calls that have gone on for a while without a question as run by the agent itself."""
        await self.record_held(through=max((one.step for one in self._calls.values() if one.is_overdue), default=0))

    async def record_running(self) -> None:
        """Record the calls that the agent reported as running, now that the turn is stopped."""
        for one in self._calls.values():
            if one.state == "held" and one.told.status == "in_progress":
                one.state = "runs"
                await self._seen(one, _observing(one.told), is_underway=True)

    async def record_started(self) -> None:
        """Record the running calls before what the agent says next. One that has not begun may still be asked about: it
        comes behind that."""
        for one in self._calls.values():
            one.is_deferred = one.state == "held" and (one.is_deferred or one.told.status == "pending")
        await self.record_held(through=max((one.step for one in self._calls.values()), default=0))

    async def record_all(self) -> None:
        """Tells all that is held back."""
        for one in list(self._calls.values()):
            self._place(one)
        if any(one.state == "held" for one in self._calls.values()):
            await self.record_held(through=max(one.step for one in self._calls.values()))

    async def record_held(self, through: int) -> None:
        """Tells the calls that were held back up to that step, as run by the agent itself."""
        for one in self._calls.values():
            if one.state == "held" and one.step <= through and not one.is_deferred:
                one.state = "runs"
                await self._seen(one, _observing(one.told), is_underway=one.told.status == "in_progress")

    async def request_permission(self, session: ExternalSession, event: PermissionRequested) -> None:
        """The agent asks whether a call may go on: the rules say, or a person."""
        known = await self._known(event.call)
        await self._speech.end_part()
        await self.record_held(through=known.step - 1)
        if known.state in ("over", "waits"):
            session.permit(event.key, "cancelled")
            return
        if known.state == "runs":
            # What was approved is on record; what it asks for now is another call, whatever id the agent gives it.
            await self._over(known, ASKED_AGAIN)
            known = self._begun(event.call)
        known.state = "waits"
        evaluation, expected = await self._seen(known, _asking(event.call), external_calls.get_tool(event.call))
        if evaluation.verdict == "allow":
            known.state = "runs"
            known.writes.open(event.call)
            session.permit(event.key, "allow")
        elif evaluation.verdict == "deny":
            known.state = "over"
            self._refuse(session, event.key)
        else:
            self._asks.start(self._answered(session, event, known, expected))

    async def read(self, session: ExternalSession, event: ReadRequested) -> None:
        """The agent wants a file through us."""
        more = {"limit": event.limit} if event.limit else {}
        arguments = {"file_path": event.path, "offset": event.line or 1, **more}
        call, expected = await self._through_gate("Read", arguments, own=True)
        self._asks.start(self._give_text(session, event, call, expected))

    async def write(self, session: ExternalSession, event: WriteRequested) -> None:
        """The agent wants a file changed through us. Within a call that was approved for it, that is not asked about again."""
        covering = await self._covering(event)
        arguments = {"file_path": event.path, "content": event.content}
        _, expected = await self._through_gate("Write", arguments, own=False, covering=covering)
        self._asks.start(self._give_change(session, event, expected, covering))

    async def finish(self) -> None:
        """The prompt is over. A call that the agent does not tell the end of has failed, as far as anybody knows."""
        self._asks.cancel_all()
        await self.record_all()
        for one in self._calls.values():
            if one.state == "runs":
                await self._over(one)

    def note(self, call: ExternalCall) -> None:
        """What is still told of a call while the turn is stopped."""
        known = self._calls.get(call.call_id)
        if known is not None:
            known.told = call

    def outcomes(self) -> dict[str, ToolOutcome]:
        """What there is of the calls that go on."""
        return {one.call: self._outcome(one) for one in self._calls.values() if one.state == "runs"}

    async def _known(self, call: ExternalCall) -> _Call:
        """The call; one that is new begins after the part in the making."""
        known = self._calls.get(call.call_id)
        if known is None:
            await self._speech.end_part()
            return self._begun(call)
        if known.is_deferred:
            await self._speech.end_part()
        self._place(known)
        known.told = call
        return known

    def _place(self, one: _Call) -> None:
        """Give a call that was deferred its step, behind all that the agent said before it."""
        if one.is_deferred:
            one.is_deferred, one.step = False, self._speech.next_step()

    def _begun(self, call: ExternalCall) -> _Call:
        dependencies = self._host.dependencies
        known = _Call(dependencies.ids.new("call"), self._speech.next_step(), call, dependencies.clock.elapsed())
        self._calls[call.call_id] = known
        self.refused = False
        return known

    async def _expire(self, one: _Call) -> None:
        await asyncio.sleep(self._host.dependencies.limits.external_grace)
        one.is_overdue = True

    async def _over(self, one: _Call, unknown: str = UNTOLD) -> None:
        one.state = "over"
        one.writes.close()
        outcome = self._outcome(one)
        if one.told.status != "completed":
            message = FAILED if one.told.status == "failed" else unknown
            outcome = msgspec.structs.replace(outcome, code="tool_failed", message=message)
        await self._end(
            one.call, await with_contents(outcome, self._context.folder, self._host.dependencies), heard=True
        )

    async def _seen(
        self, one: _Call, look: GateCheck, asks_for: str = "", *, is_underway: bool = False
    ) -> tuple[Evaluation, ExpectedCall]:
        evaluation = await self._host.gate_decisions.evaluate_external(self._scope.thread, one.call, look, asks_for)
        expected = await self._report(
            RequestedCall(
                call=one.call,
                step=one.step,
                tool=external_calls.get_tool(one.told),
                arguments=evaluation.arguments,
                provider_call_id=one.told.call_id,
                evaluation=evaluation,
            ),
            own=True,
            is_underway=is_underway,
        )
        return evaluation, expected

    async def _covering(self, event: WriteRequested) -> _Call | None:
        """The approved call that the write belongs to."""
        before = None
        with contextlib.suppress(Refusal):
            before = await self._host.dependencies.toolbox.read_text(event.path, self._context)
        calls = (one for one in self._calls.values() if one.state == "runs")
        return next((one for one in calls if one.writes.covers(event, before, self._context)), None)

    async def _through_gate(
        self, tool: str, arguments: Mapping[str, object], *, own: bool, covering: _Call | None = None
    ) -> tuple[str, ExpectedCall]:
        """A call of ours on the agent's behalf, as any other passes the gate. What an approved call covers was answered."""
        await self._speech.end_part()
        call, step = self._host.dependencies.ids.new("call"), self._speech.next_step()
        await self.record_held(through=step)
        said = redact_json(msgspec.json.encode(arguments).decode(), self._host.dependencies.secrets)
        wanted = ToolCall(call_id=call, tool=tool, arguments=said)
        (evaluation,) = await self._host.gate_decisions.evaluate(self._scope.thread, [wanted])
        if covering is not None:
            evaluation = self._host.gate_decisions.evaluations[call] = apply_approval(evaluation, covering.call)
        expected = await self._report(
            RequestedCall(
                call=call, step=step, tool=tool, arguments=wanted.arguments, provider_call_id="", evaluation=evaluation
            ),
            own=own,
        )
        return call, expected

    async def _report(self, wanted: RequestedCall, *, own: bool, is_underway: bool = False) -> ExpectedCall:
        if wanted.evaluation.verdict == "ask":
            # The action takes the next step.
            self._speech.next_step()
        expected = self._host.external_agents.expect(wanted.call, own=own)
        where = self._scope
        await self._host.report(
            ExternalCallReported(
                thread=where.thread, run=where.run, prompt=where.step, call=wanted, is_underway=is_underway
            )
        )
        return expected

    async def _answered(
        self, session: ExternalSession, event: PermissionRequested, known: _Call, expected: ExpectedCall
    ) -> None:
        fact = await expected.started
        if isinstance(fact, ToolStarted):
            known.state = "runs"
            known.writes.open(event.call)
            session.permit(event.key, "allow")
        else:
            known.state = "over"
            self._refuse(session, event.key)

    def _refuse(self, session: ExternalSession, key: int) -> None:
        self.refused = True
        session.permit(key, "reject")

    async def _give_text(
        self, session: ExternalSession, asked: ReadRequested, call: str, expected: ExpectedCall
    ) -> None:
        fact = await expected.started
        if not isinstance(fact, ToolStarted):
            session.give(asked.key, refusal=_why(fact))
            return
        clock = self._host.dependencies.clock
        began = clock.elapsed()
        try:
            dependencies = self._host.dependencies
            text = dependencies.secrets.redact(
                _lines(await dependencies.toolbox.read_text(asked.path, self._context), asked)
            )
        except Refusal as refusal:
            message = refusal.problem.message
            await self._end(call, ToolOutcome(output="", code=refusal.code, message=message))
            session.give(asked.key, refusal=message, missing=await self._is_missing(asked.path))
            return
        await self._end(call, ToolOutcome(output=text, duration_ms=round((clock.elapsed() - began) * 1000)))
        session.give(asked.key, text)

    async def _is_missing(self, path: str) -> bool:
        """True where there is no such file, which an agent that is to make it has to hear."""
        with contextlib.suppress(Refusal):
            files = FolderFiles(self._host.dependencies.closed_folders)
            return await files.read(self._context.folder, external_calls.to_relative(path, self._context)) is None
        return False

    async def _give_change(
        self, session: ExternalSession, asked: WriteRequested, expected: ExpectedCall, covering: _Call | None
    ) -> None:
        fact = await expected.ended
        if covering is not None and isinstance(fact, ToolCompleted) and fact.changes:
            covering.writes.written.update(change.path for change in fact.changes)
        session.give(asked.key, refusal="" if isinstance(fact, ToolCompleted) else _why(fact))

    async def _end(self, call: str, outcome: ToolOutcome, *, heard: bool = False) -> None:
        where = self._scope
        ended = ToolEnded(thread=where.thread, run=where.run, call=call, outcome=outcome, is_self_reported=heard)
        await self._host.report(ended)

    def _outcome(self, one: _Call) -> ToolOutcome:
        changes, blobs = external_calls.list_changes(one.told, self._context)
        # What it wrote through us is on record as that write.
        changes = tuple(change for change in changes if change.path not in one.writes.written)
        took = round((self._host.dependencies.clock.elapsed() - one.began) * 1000)
        return ToolOutcome(output=one.told.output, duration_ms=took, changes=changes, blobs=blobs)


def _observing(call: ExternalCall) -> GateCheck:
    return lambda context: external_calls.evaluate_observed(call, context)


def _asking(call: ExternalCall) -> GateCheck:
    return lambda context: external_calls.evaluate_asked(call, context)


def _why(fact: Fact) -> str:
    return fact.message if isinstance(fact, ToolRefused | ToolFailed) else STOPPED


def _lines(text: str, asked: ReadRequested) -> str:
    """The lines that were asked for; all of the text where none were named."""
    if asked.line is None and asked.limit is None:
        return text
    first = max((asked.line or 1) - 1, 0)
    lines = text.splitlines(keepends=True)
    return "".join(lines[first : None if asked.limit is None else first + asked.limit])
