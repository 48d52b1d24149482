"""Tool calls of an external agent in one prompt, and its requests for files."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused, ToolStarted
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
from .file_contents import add_contents
from .message_assembler import MessageAssembler
from .prompt_tasks import PromptTasks

NO_RESULT = "The agent ended its turn without reporting a result of this call."
REQUESTED_AGAIN = "The agent requested permission again within this call. The earlier outcome is unknown."
FAILED = "The agent reported a failure."
STOPPED = "The turn was interrupted."


@dataclass
class _Call:
    """A call of the agent's own tools.

    State `held` waits for the call to start, because its arguments may still change; `waits` waits
    for a person; the agent `runs` it; or it is `over`. `is_overdue` is True after
    `limits.external_grace` seconds without a question. `is_deferred` is True if the agent wrote
    more before it started the call; the call receives its step on its next event.
    """

    call: str
    step: int
    report: ExternalCall
    began: float
    state: Literal["held", "waits", "runs", "over"] = "held"
    is_timed: bool = False
    is_overdue: bool = False
    is_deferred: bool = False
    writes: ApprovedWrites = field(default_factory=ApprovedWrites)


class ExternalCalls:
    """The calls of one prompt. `refused` is True if the newest call was rejected."""

    def __init__(
        self, host: SessionHost, scope: Scope, assembler: MessageAssembler, context: ToolContext, asks: PromptTasks
    ) -> None:
        self._answer_tasks = asks
        self.refused = False
        self._host = host
        self._scope = scope
        self._assembler = assembler
        self._context = context
        self._calls: dict[str, _Call] = {}

    async def update(self, call: ExternalCall) -> None:
        """Apply a report of a call: it started, changed or ended."""
        tracked = await self._update_or_add(call)
        if call.status == "pending" or tracked.state in ("over", "waits"):
            return
        if tracked.state == "held" and call.status == "in_progress" and not call.output:
            # Some agents report a call as running before they request permission.
            if not tracked.is_timed:
                tracked.is_timed = True
                self._answer_tasks.start(self._mark_overdue(tracked))
            return
        if tracked.state == "held":
            await self.record_held(through=tracked.step)
        if call.status in ("completed", "failed"):
            await self._end_call(tracked)

    async def record_overdue(self) -> None:
        """Record the calls that ran for a while without a question as run by the agent."""
        await self.record_held(
            through=max((tracked.step for tracked in self._calls.values() if tracked.is_overdue), default=0)
        )

    async def record_running(self) -> None:
        """Record the calls that the agent reported as running, before the turn stops."""
        for tracked in self._calls.values():
            if tracked.state == "held" and tracked.report.status == "in_progress":
                tracked.state = "runs"
                await self._report_evaluated(tracked, _observe(tracked.report), is_underway=True)

    async def record_started(self) -> None:
        """Record the running calls before the agent's next text.

        A call that has not started may still be asked about, so it comes after the text.
        """
        for tracked in self._calls.values():
            tracked.is_deferred = tracked.state == "held" and (
                tracked.is_deferred or tracked.report.status == "pending"
            )
        await self.record_held(through=max((tracked.step for tracked in self._calls.values()), default=0))

    async def record_all(self) -> None:
        """Record all held calls."""
        for tracked in list(self._calls.values()):
            self._assign_step(tracked)
        if any(tracked.state == "held" for tracked in self._calls.values()):
            await self.record_held(through=max(tracked.step for tracked in self._calls.values()))

    async def record_held(self, through: int) -> None:
        """Record the held calls up to a step as run by the agent."""
        for tracked in self._calls.values():
            if tracked.state == "held" and tracked.step <= through and not tracked.is_deferred:
                tracked.state = "runs"
                await self._report_evaluated(
                    tracked, _observe(tracked.report), is_underway=tracked.report.status == "in_progress"
                )

    async def request_permission(self, session: ExternalSession, event: PermissionRequested) -> None:
        """Evaluate a call that the agent requests permission for: the rules decide, or a person."""
        tracked = await self._update_or_add(event.call)
        await self._assembler.end_part()
        await self.record_held(through=tracked.step - 1)
        if tracked.state in ("over", "waits"):
            session.permit(event.key, "cancelled")
            return
        if tracked.state == "runs":
            # The approved call is recorded. A new request is a new call, even with the same id.
            await self._end_call(tracked, REQUESTED_AGAIN)
            tracked = self._add(event.call)
        tracked.state = "waits"
        evaluation, expected = await self._report_evaluated(
            tracked, _ask(event.call), external_calls.get_tool(event.call)
        )
        if evaluation.verdict == "allow":
            tracked.state = "runs"
            tracked.writes.open(event.call)
            session.permit(event.key, "allow")
        elif evaluation.verdict == "deny":
            tracked.state = "over"
            self._refuse(session, event.key)
        else:
            self._answer_tasks.start(self._wait_for_person(session, event, tracked, expected))

    async def read(self, session: ExternalSession, event: ReadRequested) -> None:
        """Read a file for the agent."""
        more = {"limit": event.limit} if event.limit else {}
        arguments = {"file_path": event.path, "offset": event.line or 1, **more}
        call, expected = await self._pass_gate("Read", arguments, by_agent=True)
        self._answer_tasks.start(self._give_text(session, event, call, expected))

    async def write(self, session: ExternalSession, event: WriteRequested) -> None:
        """Write a file for the agent. An approved call that covers the write needs no second question."""
        covering = await self._find_covering(event)
        arguments = {"file_path": event.path, "content": event.content}
        _, expected = await self._pass_gate("Write", arguments, by_agent=False, covering=covering)
        self._answer_tasks.start(self._give_change(session, event, expected, covering))

    async def finish(self) -> None:
        """End the prompt. A call without a reported end has failed."""
        self._answer_tasks.cancel_all()
        await self.record_all()
        for tracked in self._calls.values():
            if tracked.state == "runs":
                await self._end_call(tracked)

    def note(self, call: ExternalCall) -> None:
        """Store a report that arrives while the turn is being stopped."""
        tracked = self._calls.get(call.call_id)
        if tracked is not None:
            tracked.report = call

    def outcomes(self) -> dict[str, ToolOutcome]:
        """Return the partial outcomes of the running calls."""
        return {
            tracked.call: self._build_partial_outcome(tracked)
            for tracked in self._calls.values()
            if tracked.state == "runs"
        }

    async def _update_or_add(self, call: ExternalCall) -> _Call:
        """Update the call, or add a new one after the current part."""
        tracked = self._calls.get(call.call_id)
        if tracked is None:
            await self._assembler.end_part()
            return self._add(call)
        if tracked.is_deferred:
            await self._assembler.end_part()
        self._assign_step(tracked)
        tracked.report = call
        return tracked

    def _assign_step(self, tracked: _Call) -> None:
        """Give a deferred call its step, after everything that the agent wrote before it."""
        if tracked.is_deferred:
            tracked.is_deferred, tracked.step = False, self._assembler.advance_step()

    def _add(self, call: ExternalCall) -> _Call:
        dependencies = self._host.dependencies
        tracked = _Call(
            dependencies.ids.new("call"), self._assembler.advance_step(), call, dependencies.clock.elapsed()
        )
        self._calls[call.call_id] = tracked
        self.refused = False
        return tracked

    async def _mark_overdue(self, tracked: _Call) -> None:
        await asyncio.sleep(self._host.dependencies.limits.external_grace)
        tracked.is_overdue = True

    async def _end_call(self, tracked: _Call, unknown: str = NO_RESULT) -> None:
        tracked.state = "over"
        tracked.writes.close()
        outcome = self._build_partial_outcome(tracked)
        if tracked.report.status != "completed":
            message = FAILED if tracked.report.status == "failed" else unknown
            outcome = msgspec.structs.replace(outcome, code="tool_failed", message=message)
        await self._report_end(
            tracked.call, await add_contents(outcome, self._context.folder, self._host.dependencies), is_reported=True
        )

    async def _report_evaluated(
        self, tracked: _Call, gate_check: GateCheck, asks_for: str = "", *, is_underway: bool = False
    ) -> tuple[Evaluation, ExpectedCall]:
        evaluation = await self._host.gate_decisions.evaluate_external(
            self._scope.thread, tracked.call, gate_check, asks_for
        )
        expected = await self._report(
            RequestedCall(
                call=tracked.call,
                step=tracked.step,
                tool=external_calls.get_tool(tracked.report),
                arguments=evaluation.arguments,
                provider_call_id=tracked.report.call_id,
                evaluation=evaluation,
            ),
            by_agent=True,
            is_underway=is_underway,
        )
        return evaluation, expected

    async def _find_covering(self, event: WriteRequested) -> _Call | None:
        """Return the approved call that covers the write."""
        before = None
        with contextlib.suppress(Refusal):
            before = await self._host.dependencies.toolbox.read_text(event.path, self._context)
        calls = (tracked for tracked in self._calls.values() if tracked.state == "runs")
        return next((tracked for tracked in calls if tracked.writes.is_approved(event, before, self._context)), None)

    async def _pass_gate(
        self, tool: str, arguments: Mapping[str, object], *, by_agent: bool, covering: _Call | None = None
    ) -> tuple[str, ExpectedCall]:
        """Evaluate a call of Callboard's own tools for the agent. A covering approval replaces the question."""
        await self._assembler.end_part()
        call, step = self._host.dependencies.ids.new("call"), self._assembler.advance_step()
        await self.record_held(through=step)
        safe_arguments = redact_json(msgspec.json.encode(arguments).decode(), self._host.dependencies.secrets)
        tool_call = ToolCall(call_id=call, tool=tool, arguments=safe_arguments)
        (evaluation,) = await self._host.gate_decisions.evaluate(self._scope.thread, [tool_call])
        if covering is not None:
            evaluation = self._host.gate_decisions.evaluations[call] = apply_approval(evaluation, covering.call)
        expected = await self._report(
            RequestedCall(
                call=call,
                step=step,
                tool=tool,
                arguments=tool_call.arguments,
                provider_call_id="",
                evaluation=evaluation,
            ),
            by_agent=by_agent,
        )
        return call, expected

    async def _report(self, request: RequestedCall, *, by_agent: bool, is_underway: bool = False) -> ExpectedCall:
        if request.evaluation.verdict == "ask":
            # The action uses the next step.
            self._assembler.advance_step()
        expected = self._host.external_agents.expect(request.call, by_agent=by_agent)
        where = self._scope
        await self._host.report(
            ExternalCallReported(
                thread=where.thread, run=where.run, prompt=where.step, call=request, is_underway=is_underway
            )
        )
        return expected

    async def _wait_for_person(
        self, session: ExternalSession, event: PermissionRequested, tracked: _Call, expected: ExpectedCall
    ) -> None:
        fact = await expected.started
        if isinstance(fact, ToolStarted):
            tracked.state = "runs"
            tracked.writes.open(event.call)
            session.permit(event.key, "allow")
        else:
            tracked.state = "over"
            self._refuse(session, event.key)

    def _refuse(self, session: ExternalSession, key: int) -> None:
        self.refused = True
        session.permit(key, "reject")

    async def _give_text(
        self, session: ExternalSession, request: ReadRequested, call: str, expected: ExpectedCall
    ) -> None:
        fact = await expected.started
        if not isinstance(fact, ToolStarted):
            session.answer_file_request(request.key, refusal=_find_refusal_text(fact))
            return
        clock = self._host.dependencies.clock
        started = clock.elapsed()
        try:
            dependencies = self._host.dependencies
            text = dependencies.secrets.redact(
                _select_lines(await dependencies.toolbox.read_text(request.path, self._context), request)
            )
        except Refusal as refusal:
            message = refusal.text
            await self._report_end(call, ToolOutcome(output="", code=refusal.code, message=message))
            session.answer_file_request(request.key, refusal=message, missing=await self._is_missing(request.path))
            return
        await self._report_end(call, ToolOutcome(output=text, duration_ms=round((clock.elapsed() - started) * 1000)))
        session.answer_file_request(request.key, text)

    async def _is_missing(self, path: str) -> bool:
        """Return True if the file does not exist. An agent that creates it must receive that."""
        with contextlib.suppress(Refusal):
            files = FolderFiles(self._host.dependencies.closed_folders)
            return await files.read(self._context.folder, external_calls.to_relative(path, self._context)) is None
        return False

    async def _give_change(
        self, session: ExternalSession, request: WriteRequested, expected: ExpectedCall, covering: _Call | None
    ) -> None:
        fact = await expected.ended
        if covering is not None and isinstance(fact, ToolCompleted) and fact.changes:
            covering.writes.written.update(change.path for change in fact.changes)
        session.answer_file_request(
            request.key, refusal="" if isinstance(fact, ToolCompleted) else _find_refusal_text(fact)
        )

    async def _report_end(self, call: str, outcome: ToolOutcome, *, is_reported: bool = False) -> None:
        where = self._scope
        ended = ToolEnded(thread=where.thread, run=where.run, call=call, outcome=outcome, is_self_reported=is_reported)
        await self._host.report(ended)

    def _build_partial_outcome(self, tracked: _Call) -> ToolOutcome:
        changes, blobs = external_calls.list_changes(tracked.report, self._context)
        # Writes through Callboard are recorded as separate calls.
        changes = tuple(change for change in changes if change.path not in tracked.writes.written)
        duration = round((self._host.dependencies.clock.elapsed() - tracked.began) * 1000)
        return ToolOutcome(output=tracked.report.output, duration_ms=duration, changes=changes, blobs=blobs)


def _observe(call: ExternalCall) -> GateCheck:
    return lambda context: external_calls.evaluate_observed(call, context)


def _ask(call: ExternalCall) -> GateCheck:
    return lambda context: external_calls.evaluate_permission(call, context)


def _find_refusal_text(fact: Fact) -> str:
    return fact.message if isinstance(fact, ToolRefused | ToolFailed) else STOPPED


def _select_lines(text: str, request: ReadRequested) -> str:
    """Return the requested lines; the whole text if the request names none."""
    if request.line is None and request.limit is None:
        return text
    first = max((request.line or 1) - 1, 0)
    lines = text.splitlines(keepends=True)
    return "".join(lines[first : None if request.limit is None else first + request.limit])
