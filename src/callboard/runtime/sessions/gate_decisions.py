"""The gate's evaluations of a session's calls, from request to run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import cast

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import Evaluation, HookResult, ToolCall, ToolContext
from callboard.control.decide.tool.action_approval import find_waiting_call
from callboard.control.decide.tool.calls import is_blocking
from callboard.control.state.turn import OpenCall
from callboard.tools.arguments import compute_digest
from callboard.tools.hooks.restrictions import apply_hooks, deny_rewrite

from ..dependencies import Dependencies
from ..secrets.append_redactor import redact_evaluation, redact_hook_result
from ..secrets.secret_values import evaluate_call
from ..session_state import SessionState
from .run_context import RunContexts

#: Evaluates a call of an external agent's own tool in a context.
GateCheck = Callable[[ToolContext], Evaluation]


class GateDecisions:
    """Evaluates calls and stores the result of each open call in `evaluations`, by call id.

    Hooks run once per call, when it is requested. Their result is recorded in the fact and applies
    from then on.
    """

    def __init__(self, dependencies: Dependencies, session_state: SessionState, runs: RunContexts) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self._external_checks: dict[str, GateCheck] = {}
        self._dependencies = dependencies
        self._session_state = session_state
        self._runs = runs

    async def evaluate(self, thread: str, calls: Sequence[ToolCall]) -> list[Evaluation]:
        """Evaluate new calls of the thread's run: first their hooks, then the gate."""
        hook_results = await self._run_hooks(thread, calls)
        return [
            await self._evaluate(thread, _apply_hook_result(call, hooked))
            for call, hooked in zip(calls, hook_results, strict=True)
        ]

    async def evaluate_external(self, thread: str, call: str, check: GateCheck, tool: str = "") -> Evaluation:
        """Evaluate a new call of an external agent's own tool.

        `check` runs again when a person answers. Hooks run only if `tool` is set; they do not run
        for a call that needs no permission.
        """
        self._external_checks[call] = check
        evaluation = await self._evaluate_external(thread, call, check, None)
        if tool and evaluation.verdict != "deny":
            tool_call = ToolCall(call_id=call, tool=tool, arguments=evaluation.arguments)
            (hook_result,) = await self._run_hooks(thread, [tool_call])
            if hook_result is not None:
                evaluation = await self._evaluate_external(thread, call, check, deny_rewrite(hook_result))
        return evaluation

    async def _run_hooks(self, thread: str, calls: Sequence[ToolCall]) -> list[HookResult | None]:
        """Run the hooks of new calls and redact their results."""
        dependencies, session = self._dependencies, self._session_state.state.session
        context = await self._runs.resolve_tool_context(thread)
        if not (context.hooks or context.changed_hooks):
            return [None for _ in calls]
        pending = (dependencies.toolbox.run_hooks(call, context, session=session, thread=thread) for call in calls)
        return [redact_hook_result(result, dependencies.secrets) for result in await _gather(pending)]

    async def _evaluate(self, thread: str, call: ToolCall) -> Evaluation:
        """Evaluate a call after its hooks."""
        context = await self._runs.resolve_tool_context(thread)
        evaluation = await evaluate_call(self._dependencies.toolbox, call, context, self._dependencies.secrets)
        self.evaluations[call.call_id] = evaluation = msgspec.structs.replace(evaluation, hook_result=call.hook_result)
        return evaluation

    async def _evaluate_external(
        self, thread: str, call: str, check: GateCheck, hooked: HookResult | None
    ) -> Evaluation:
        evaluation = redact_evaluation(check(await self._runs.resolve_tool_context(thread)), self._dependencies.secrets)
        self.evaluations[call] = evaluation = apply_hooks(evaluation, hooked)
        return evaluation

    async def reevaluate(self, action: str) -> Evaluation | None:
        """Evaluate the call of an action again; None if the action is not pending."""
        pending = find_waiting_call(self._session_state.state, action)
        if pending is None:
            return None
        thread, _, call = pending
        check = self._external_checks.get(call.call)
        if check is not None:
            return await self._evaluate_external(thread.thread, call.call, check, await self._read_hook_result(call))
        return await self._evaluate_open_call(thread.thread, call)

    async def evaluate_waiting(self) -> dict[str, Evaluation]:
        """Evaluate the calls that wait for earlier calls of their response.

        Stop at the first call that delays the others. A call whose run configuration cannot be read
        is denied, so that the session continues.
        """
        evaluations: dict[str, Evaluation] = {}
        for thread in self._session_state.state.threads.values():
            run = thread.run
            for call in run.calls if run is not None and not run.stopping else ():
                if call.phase != "requested":
                    continue
                try:
                    evaluation = await self._evaluate_open_call(thread.thread, call)
                except Refusal as refusal:
                    evaluation = _deny_unreadable(call, refusal)
                evaluations[call.call] = evaluation
                if is_blocking(call.tool, evaluation):
                    break
        return evaluations

    async def _evaluate_open_call(self, thread: str, call: OpenCall) -> Evaluation:
        tool_call = ToolCall(call_id=call.call, tool=call.tool, arguments=await self._read_text(call.arguments))
        return await self._evaluate(thread, _apply_hook_result(tool_call, await self._read_hook_result(call)))

    async def _read_hook_result(self, call: OpenCall) -> HookResult | None:
        """Return the recorded hook result of an open call."""
        recorded = call.hooked
        if recorded is None:
            return None
        arguments = None if recorded.arguments is None else await self._read_text(recorded.arguments)
        code = cast("Code | None", recorded.code or None)
        return HookResult(
            verdict=recorded.verdict,
            detail=recorded.detail,
            code=code,
            arguments=arguments,
            rewritten_by=recorded.by,
            reasons=recorded.reasons,
        )

    async def _read_text(self, text: Text) -> str:
        data = None if text.ref is None else await self._dependencies.store.blobs.get(text.ref.hash)
        return text.text if data is None else data.decode()

    def pop(self, call: str) -> Evaluation | None:
        """Remove and return the evaluation under which a call runs."""
        self._external_checks.pop(call, None)
        return self.evaluations.pop(call, None)


async def _gather(pending: Iterable[Awaitable[HookResult | None]]) -> list[HookResult | None]:
    """Return all results after every hook has ended. Cancellation or an error leaves no hook running."""
    results = await asyncio.gather(*pending, return_exceptions=True)
    failed = next((result for result in results if isinstance(result, BaseException)), None)
    if failed is not None:
        raise failed
    return [result for result in results if not isinstance(result, BaseException)]


def _apply_hook_result(call: ToolCall, hook_result: HookResult | None) -> ToolCall:
    """Return the call with the hooks' result and arguments."""
    if hook_result is None:
        return call
    arguments = call.arguments if hook_result.arguments is None else hook_result.arguments
    return msgspec.structs.replace(call, arguments=arguments, hook_result=hook_result)


def _deny_unreadable(call: OpenCall, refusal: Refusal) -> Evaluation:
    return Evaluation(
        verdict="deny",
        risk="high",
        read_only=False,
        arguments=call.arguments.text,
        arguments_hash=compute_digest(call.arguments.text),
        summary=call.tool,
        checks=(Check(name="tools", verdict="deny", detail=refusal.text),),
        code=refusal.code,
        message=refusal.text,
    )
