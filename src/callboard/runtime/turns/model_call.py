"""The effect of a model call: stream the response, retry, evaluate its tool calls, and report."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing
from dataclasses import dataclass, field

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.live import PartialKind
from callboard.contracts.ports.model import (
    Finished,
    Model,
    ModelEvent,
    ModelFailure,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from callboard.contracts.ports.tools import ToolCall
from callboard.contracts.scope import Scope
from callboard.contracts.tool_names import to_stored_name
from callboard.control.outcomes import ModelAttemptFailed, ModelResponded, Piece, RequestedCall
from callboard.models.retry import RetryPolicy, is_overload, retry_in_ms

from ..secrets.append_redactor import redact_json
from ..sessions.host import SessionHost
from ..sessions.partial_buffer import PartialBuffer

log = logging.getLogger(__name__)


@dataclass
class _Call:
    """A tool call that is being streamed."""

    scope: Scope
    tool: str = ""
    provider_call_id: str = ""
    signature: str = ""
    arguments: list[str] = field(default_factory=list[str])


class ModelCallRunner:
    """One model call with all its attempts.

    `pieces` returns the response so far, `response` the complete one.
    """

    def __init__(self, host: SessionHost, scope: Scope, request: ModelRequested) -> None:
        self._host = host
        self._scope = scope
        self._request = request
        self._failures = {True: 0, False: 0}
        self._total_wait_ms = 0
        self._reset()

    @property
    def step(self) -> int:
        """The step of the model call."""
        return self._scope.step

    def pieces(self) -> tuple[Piece, ...]:
        """Return the parts so far, in order: text, reasoning and arguments of calls."""
        pieces: list[Piece] = []
        for kind in ("reasoning", "text", "arguments"):
            for step in self._buffer.list_steps(kind):
                text = self._buffer.read_text(kind, step)
                pieces.append(Piece(kind=kind, step=step, text=text, signature=self._signatures.get(step, "")))
        # Hidden reasoning must still be sent back to its provider.
        unseen = self._signatures.keys() - {piece.step for piece in pieces if piece.kind == "reasoning"}
        pieces += [Piece(kind="reasoning", step=step, text="", signature=self._signatures[step]) for step in unseen]
        return tuple(sorted(pieces, key=lambda piece: piece.step))

    async def settle(self) -> None:
        """Stop showing and storing pieces of this call."""
        await self._buffer.settle()

    async def run(self) -> None:
        """Call the model until it responds or the failure is final, and report the outcome."""
        attempt = 1
        while True:
            try:
                finished = await self._attempt(attempt)
                break
            except ModelFailure as failure:
                await self.settle()
                wait = self._compute_wait(failure)
                await self._report_failure(failure, attempt, wait)
            except Refusal as refusal:
                # An error of Callboard, such as damaged content. Every model would receive the same
                # request.
                await self.settle()
                wait = None
                await self._report_failure(
                    ModelFailure(refusal.code, refusal.problem.message, retryable=False), attempt, None
                )
            except Exception as error:
                log.exception("a model adapter raised an unexpected error")
                await self.settle()
                wait = None
                text = f"The model call failed unexpectedly ({type(error).__name__}). See the server log."
                await self._report_failure(ModelFailure("internal", text, retryable=False), attempt, None)
            if wait is None:
                return
            await asyncio.sleep(wait / 1000)
            attempt += 1
            self._started = self._host.dependencies.clock.elapsed()
        # The model's own time, without hooks and the gate.
        self._finished_at = (finished, self._host.dependencies.clock.elapsed())
        await self._report_answer()

    def response(self) -> ModelResponded | None:
        """Return the complete response without its tool calls; None while it is incomplete."""
        if self._finished_at is None:
            return None
        finished, ended = self._finished_at
        return ModelResponded(
            thread=self._scope.thread,
            run=self._scope.run,
            step=self._scope.step,
            pieces=self.pieces(),
            calls=(),
            stop_reason=finished.stop_reason,
            provider_reason=finished.provider_reason,
            usage=finished.usage,
            first_ms=round(((self._first or ended) - self._started) * 1000),
            duration_ms=round((ended - self._started) * 1000),
            response_id=finished.response_id,
            quota=finished.quota,
        )

    def _reset(self) -> None:
        self._finished_at: tuple[Finished, float] | None = None
        self._buffer = PartialBuffer(self._host.dependencies, self._host.session, self._host.epoch)
        self._indexes: dict[int, int] = {}
        self._calls: dict[int, _Call] = {}
        self._signatures: dict[int, str] = {}
        self._started = self._host.dependencies.clock.elapsed()
        self._first: float | None = None

    async def _attempt(self, attempt: int) -> Finished:
        model, request = await self._prepare(attempt)
        finished: Finished | None = None
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if self._first is None:
                    self._first = self._host.dependencies.clock.elapsed()
                if isinstance(event, Finished):
                    finished = event
                else:
                    self._apply(event)
        if finished is None:
            raise ModelFailure("model_cut_stream", "The response was truncated.", retryable=True)
        return finished

    async def _prepare(self, attempt: int) -> tuple[Model, ModelRequest]:
        host = self._host
        run = host.state.threads[self._scope.thread].run
        if run is None:
            raise ModelFailure("internal", "The run has ended.", retryable=False)
        setup = await host.run_contexts.get_start(run)
        context = await host.conversations.get(self._scope.thread)
        try:
            model = host.dependencies.models.get_model(self._request.provider, self._request.model)
        except Refusal as refusal:
            raise ModelFailure(refusal.code, refusal.problem.message, retryable=False) from refusal
        return model, ModelRequest(
            model=self._request.model,
            system=setup.system,
            messages=context.build_messages(images=model.images),
            tools=setup.specs,
            one_call=run.mode == "chat",
            session=host.session,
            thread=self._scope.thread,
            agent=setup.definition.name,
            iteration=self._request.iteration,
            attempt=attempt,
            begins=context.find_newest_turn_index(),
        )

    def _apply(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(index, text):
                self._buffer.add("text", self._build_scope(index), text)
            case ReasoningDelta(index, text, signature):
                scope = self._build_scope(index)
                if signature:
                    self._signatures[scope.step] = signature
                self._buffer.add("reasoning", scope, text)
            case ToolCallDelta(index, call_id, tool, arguments, signature):
                call = self._call(index)
                # The only place that converts a model's tool name to the stored name.
                call.tool = call.tool or to_stored_name(tool)
                call.provider_call_id = call.provider_call_id or call_id
                call.signature = signature or call.signature
                call.arguments.append(arguments)
                kind: PartialKind = "arguments"
                self._buffer.add(kind, call.scope, arguments, call.tool)
            case Finished():
                pass

    def _call(self, index: int) -> _Call:
        """Return the call at an index of the response. Its id is created when it begins, so that its row keeps one key."""
        call = self._calls.get(index)
        if call is None:
            call_id = self._host.dependencies.ids.new("call")
            call = self._calls[index] = _Call(
                scope=msgspec.structs.replace(self._build_scope(index), tool_call=call_id)
            )
        return call

    def _build_scope(self, index: int) -> Scope:
        """Return the scope of a part. Steps follow the order in which parts begin, because provider indexes may have gaps."""
        position = self._indexes.setdefault(index, len(self._indexes))
        return msgspec.structs.replace(self._scope, step=self._scope.step + 1 + position)

    def _compute_wait(self, failure: ModelFailure) -> int | None:
        """Return the wait before the next attempt in milliseconds; None if the failure is final."""
        overloaded = is_overload(failure)
        self._failures[overloaded] += 1
        chance = random.random()  # noqa: S311
        count, waited = self._failures[overloaded], self._total_wait_ms
        wait = retry_in_ms(failure, count, chance, self._build_policy(), waited_ms=waited)
        self._total_wait_ms += wait or 0
        return wait

    def _build_policy(self) -> RetryPolicy:
        """Return the current retry policy. Changed settings apply to a call that is waiting."""
        settings = self._host.dependencies.limits.model_retry or self._host.workspace.settings.retry
        run = self._host.state.threads[self._scope.thread].run
        patience = settings.patience
        if run is not None and run.fallbacks:
            patience = min(patience, settings.fallback_after)
        return RetryPolicy(max_attempts=settings.attempts, patience_ms=round(patience * 1000))

    async def _report_failure(self, failure: ModelFailure, attempt: int, wait: int | None) -> None:
        pieces = self.pieces()
        if wait is not None:
            # Drop the partial response before a retry, so that an interrupt does not record it.
            self._reset()
        await self._host.report(
            ModelAttemptFailed(
                thread=self._scope.thread,
                run=self._scope.run,
                step=self._scope.step,
                attempt=attempt,
                code=failure.code,
                message=failure.message,
                retryable=failure.retryable,
                retry_in_ms=wait,
                pieces=pieces,
                quota=failure.quota,
            )
        )

    async def _report_answer(self) -> None:
        calls = await self._evaluate_calls()
        await self.settle()
        response = self.response()
        if response is None:
            raise LookupError("the model call ended without a response")
        pieces = tuple(piece for piece in response.pieces if piece.kind != "arguments")
        await self._host.report_end(msgspec.structs.replace(response, pieces=pieces, calls=tuple(calls)))

    async def _evaluate_calls(self) -> list[RequestedCall]:
        """Return the calls of the response with the gate's evaluations."""
        host, calls = self._host, list(self._calls.values())
        tool_calls = [
            ToolCall(
                call_id=call.scope.tool_call,
                tool=call.tool,
                arguments=redact_json("".join(call.arguments), host.dependencies.secrets),
            )
            for call in calls
        ]
        evaluations = await host.gate_decisions.evaluate(self._scope.thread, tool_calls) if tool_calls else []
        return [
            RequestedCall(
                call=tool_call.call_id,
                step=call.scope.step,
                tool=tool_call.tool,
                arguments=tool_call.arguments,
                provider_call_id=call.provider_call_id,
                evaluation=evaluation,
                signature=call.signature,
            )
            for call, tool_call, evaluation in zip(calls, tool_calls, evaluations, strict=True)
        ]
