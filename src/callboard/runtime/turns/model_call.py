"""The effect of asking a model: streams the answer, retries what may succeed, passes its calls through the gate, reports."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing
from dataclasses import dataclass, field

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ModelRequested
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
from callboard.contracts.tool_names import stored_name
from callboard.control.outcomes import ModelAnswered, ModelAttemptFailed, Piece, RequestedCall
from callboard.models.retry import RetryPolicy, is_overload, retry_in_ms

from ..secrets.append_redactor import redact_json
from ..sessions.host import SessionHost
from ..sessions.partial_buffer import PartialBuffer

log = logging.getLogger(__name__)


@dataclass
class _Call:
    """A tool call in the making."""

    scope: Scope
    tool: str = ""
    provider_call_id: str = ""
    signature: str = ""
    arguments: list[str] = field(default_factory=list[str])


class ModelCallRunner:
    """One model call with all its attempts. `pieces` is what there is of the answer at any moment, `answer` all of it."""

    def __init__(self, host: SessionHost, scope: Scope, request: ModelRequested) -> None:
        self._host = host
        self._scope = scope
        self._request = request
        self._failures = {True: 0, False: 0}
        self._waited_ms = 0
        self._begin()

    @property
    def step(self) -> int:
        """The step of the model call."""
        return self._scope.step

    def pieces(self) -> tuple[Piece, ...]:
        """The parts so far, in order: text, reasoning, and the arguments of calls."""
        found: list[Piece] = []
        for kind in ("reasoning", "text", "arguments"):
            for step in self._buffer.steps(kind):
                text = self._buffer.text(kind, step)
                found.append(Piece(kind=kind, step=step, text=text, signature=self._signatures.get(step, "")))
        # Reasoning that a provider shows nobody goes back to it all the same.
        unseen = self._signatures.keys() - {piece.step for piece in found if piece.kind == "reasoning"}
        found += [Piece(kind="reasoning", step=step, text="", signature=self._signatures[step]) for step in unseen]
        return tuple(sorted(found, key=lambda piece: piece.step))

    async def settle(self) -> None:
        """Nothing more of this call is shown or kept."""
        await self._buffer.settle()

    async def run(self) -> None:
        """Asks until an answer is complete or the failures are final, and reports what came of it."""
        attempt = 1
        while True:
            try:
                finished = await self._attempt(attempt)
                break
            except ModelFailure as failure:
                await self.settle()
                wait = self._wait(failure)
                await self._failed(failure, attempt, wait)
            except Refusal as refusal:
                # Of Callboard itself, such as a damaged content of the conversation. Every model would be asked with it.
                await self.settle()
                wait = None
                await self._failed(ModelFailure(refusal.code, refusal.problem.message, retryable=False), attempt, None)
            except Exception as error:
                log.exception("a model failed in a way that it does not tell")
                await self.settle()
                wait = None
                text = (
                    f"The model failed in an unexpected way ({type(error).__name__}). The log of the server tells more."
                )
                await self._failed(ModelFailure("internal", text, retryable=False), attempt, None)
            if wait is None:
                return
            await asyncio.sleep(wait / 1000)
            attempt += 1
            self._started = self._host.dependencies.clock.elapsed()
        # How long the model took, and not what hooks and the gate take then.
        self._came = (finished, self._host.dependencies.clock.elapsed())
        await self._answered()

    def answer(self) -> ModelAnswered | None:
        """The answer once all of it has come, without its calls."""
        if self._came is None:
            return None
        finished, ended = self._came
        return ModelAnswered(
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

    def _begin(self) -> None:
        self._came: tuple[Finished, float] | None = None
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
                    self._take(event)
        if finished is None:
            raise ModelFailure("model_cut_stream", "The answer broke off before its end.", retryable=True)
        return finished

    async def _prepare(self, attempt: int) -> tuple[Model, ModelRequest]:
        host = self._host
        run = host.state.threads[self._scope.thread].run
        if run is None:
            raise ModelFailure("internal", "The run is over.", retryable=False)
        setup = await host.run_contexts.for_run(run)
        context = await host.conversations.get(self._scope.thread)
        try:
            model = host.dependencies.models.model(self._request.provider, self._request.model)
        except Refusal as refusal:
            raise ModelFailure(refusal.code, refusal.problem.message, retryable=False) from refusal
        return model, ModelRequest(
            model=self._request.model,
            system=setup.system,
            messages=context.messages(images=model.images),
            tools=setup.specs,
            one_call=run.mode == "chat",
            session=host.session,
            thread=self._scope.thread,
            agent=setup.definition.name,
            iteration=self._request.iteration,
            attempt=attempt,
            begins=context.newest_turn_index(),
        )

    def _take(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(index, text):
                self._buffer.add("text", self._at(index), text)
            case ReasoningDelta(index, text, signature):
                scope = self._at(index)
                if signature:
                    self._signatures[scope.step] = signature
                self._buffer.add("reasoning", scope, text)
            case ToolCallDelta(index, call_id, tool, arguments, signature):
                call = self._call(index)
                # The one place where a name that a model wrote becomes the stored one.
                call.tool = call.tool or stored_name(tool)
                call.provider_call_id = call.provider_call_id or call_id
                call.signature = signature or call.signature
                call.arguments.append(arguments)
                kind: PartialKind = "arguments"
                self._buffer.add(kind, call.scope, arguments, call.tool)
            case Finished():
                pass

    def _call(self, index: int) -> _Call:
        """The call at that place of the answer. Its id is ours and is given when it begins, so that its row has one key."""
        call = self._calls.get(index)
        if call is None:
            call_id = self._host.dependencies.ids.new("call")
            call = self._calls[index] = _Call(scope=msgspec.structs.replace(self._at(index), tool_call=call_id))
        return call

    def _at(self, index: int) -> Scope:
        """Steps follow the order in which parts begin; the model's own numbering may have holes."""
        place = self._indexes.setdefault(index, len(self._indexes))
        return msgspec.structs.replace(self._scope, step=self._scope.step + 1 + place)

    def _wait(self, failure: ModelFailure) -> int | None:
        """Return the wait before the next attempt in milliseconds, None where the failure stands."""
        overloaded = is_overload(failure)
        self._failures[overloaded] += 1
        chance = random.random()  # noqa: S311
        count, waited = self._failures[overloaded], self._waited_ms
        wait = retry_in_ms(failure, count, chance, self._policy(), waited_ms=waited)
        self._waited_ms += wait or 0
        return wait

    def _policy(self) -> RetryPolicy:
        """Return what the settings say now, so that a changed patience applies to a call that waits."""
        settings = self._host.dependencies.limits.model_retry or self._host.workspace.settings.retry
        run = self._host.state.threads[self._scope.thread].run
        patience = settings.patience
        if run is not None and run.fallbacks:
            patience = min(patience, settings.fallback_after)
        return RetryPolicy(max_attempts=settings.attempts, patience_ms=round(patience * 1000))

    async def _failed(self, failure: ModelFailure, attempt: int, wait: int | None) -> None:
        pieces = self.pieces()
        if wait is not None:
            # What an attempt that is tried again had brought is dropped, also by an interrupt that comes meanwhile.
            self._begin()
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

    async def _answered(self) -> None:
        calls = await self._wanted()
        await self.settle()
        answer = self.answer()
        if answer is None:
            raise LookupError("nothing has come of a model that answered")
        pieces = tuple(piece for piece in answer.pieces if piece.kind != "arguments")
        await self._host.report(msgspec.structs.replace(answer, pieces=pieces, calls=tuple(calls)))

    async def _wanted(self) -> list[RequestedCall]:
        """The calls of the answer, each with the gate's verdict."""
        host, calls = self._host, list(self._calls.values())
        wanted = [
            ToolCall(
                call_id=call.scope.tool_call,
                tool=call.tool,
                arguments=redact_json("".join(call.arguments), host.dependencies.secrets),
            )
            for call in calls
        ]
        evaluations = await host.gate_decisions.evaluate(self._scope.thread, wanted) if wanted else []
        return [
            RequestedCall(
                call=one.call_id,
                step=call.scope.step,
                tool=one.tool,
                arguments=one.arguments,
                provider_call_id=call.provider_call_id,
                evaluation=evaluation,
                signature=call.signature,
            )
            for call, one, evaluation in zip(calls, wanted, evaluations, strict=True)
        ]
