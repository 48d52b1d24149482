"""The gate's verdicts on the calls of a session, from the look at a call until it has run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import cast

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import Evaluation, HookResult, ToolCall, ToolContext
from callboard.control.decide.tool.action_answer import find_waiting_call
from callboard.control.decide.tool.calls import blocks_next_calls
from callboard.control.state.session import OpenCall
from callboard.tools.arguments import digest
from callboard.tools.hooks.restrictions import apply_hooks, deny_rewrite

from ..dependencies import Dependencies
from ..secrets.append_redactor import redact_evaluation, redact_hook_result
from ..secrets.secret_values import evaluate_call
from ..session_state import SessionState
from .run_context import RunContexts

#: How the gate looks at a call of an agent's own tools.
GateCheck = Callable[[ToolContext], Evaluation]


class GateDecisions:
    """Asks the gate and keeps its word on each open call. `kept` is by the call's id. Hooks are asked once about a call, when
    it is made; what they said is in its fact and goes with it from then on."""

    def __init__(self, dependencies: Dependencies, session_state: SessionState, runs: RunContexts) -> None:
        self.evaluations: dict[str, Evaluation] = {}
        self._foreign: dict[str, GateCheck] = {}
        self._dependencies = dependencies
        self._session_state = session_state
        self._runs = runs

    async def evaluate(self, thread: str, calls: Sequence[ToolCall]) -> list[Evaluation]:
        """The verdicts on new calls of the thread's run, which are made at once: first their hooks', then the gate's."""
        said = await self._asked(thread, calls)
        return [await self._of(thread, _as_said(call, hooked)) for call, hooked in zip(calls, said, strict=True)]

    async def evaluate_external(self, thread: str, call: str, look: GateCheck, tool: str = "") -> Evaluation:
        """The verdict on a new call of an agent's own tools; `look` is asked anew when a person answers. Hooks are asked where
        the `tool` is named: of a call that goes on by itself they are not."""
        self._foreign[call] = look
        evaluation = await self._of_foreign(thread, call, look, None)
        if tool and evaluation.verdict != "deny":
            asked = ToolCall(call_id=call, tool=tool, arguments=evaluation.arguments)
            (hooked,) = await self._asked(thread, [asked])
            if hooked is not None:
                evaluation = await self._of_foreign(thread, call, look, deny_rewrite(hooked))
        return evaluation

    async def _asked(self, thread: str, calls: Sequence[ToolCall]) -> list[HookResult | None]:
        """What hooks say of new calls, redacted."""
        dependencies, session = self._dependencies, self._session_state.state.session
        context = await self._runs.tool_context(thread)
        if not (context.hooks or context.changed_hooks):
            return [None for _ in calls]
        asking = (dependencies.toolbox.run_hooks(call, context, session=session, thread=thread) for call in calls)
        return [redact_hook_result(said, dependencies.secrets) for said in await _all_of(asking)]

    async def _of(self, thread: str, call: ToolCall) -> Evaluation:
        """The gate's present verdict on a call that hooks were asked about."""
        context = await self._runs.tool_context(thread)
        evaluation = await evaluate_call(self._dependencies.toolbox, call, context, self._dependencies.secrets)
        self.evaluations[call.call_id] = evaluation = msgspec.structs.replace(evaluation, hook_result=call.hook_result)
        return evaluation

    async def _of_foreign(self, thread: str, call: str, look: GateCheck, hooked: HookResult | None) -> Evaluation:
        evaluation = redact_evaluation(look(await self._runs.tool_context(thread)), self._dependencies.secrets)
        self.evaluations[call] = evaluation = apply_hooks(evaluation, hooked)
        return evaluation

    async def reevaluate(self, action: str) -> Evaluation | None:
        """The gate's present verdict on the call that an action is for; None where the action does not wait."""
        found = find_waiting_call(self._session_state.state, action)
        if found is None:
            return None
        thread, _, call = found
        look = self._foreign.get(call.call)
        if look is not None:
            return await self._of_foreign(thread.thread, call.call, look, await self._hooked(call))
        return await self._look(thread.thread, call)

    async def evaluate_waiting(self) -> dict[str, Evaluation]:
        """The gate's present verdicts on the calls that wait for others of their answer, by their ids, up to the first that the
        others wait for. One that cannot be looked at, as nobody can read any more what its run was told, is denied: the session
        goes on without it."""
        found: dict[str, Evaluation] = {}
        for thread in self._session_state.state.threads.values():
            run = thread.run
            for call in run.calls if run is not None and not run.stopping else ():
                if call.phase != "requested":
                    continue
                try:
                    look = await self._look(thread.thread, call)
                except Refusal as refusal:
                    look = _unseen(call, refusal)
                found[call.call] = look
                if blocks_next_calls(call.tool, look):
                    break
        return found

    async def _look(self, thread: str, call: OpenCall) -> Evaluation:
        asked = ToolCall(call_id=call.call, tool=call.tool, arguments=await self._whole(call.arguments))
        return await self._of(thread, _as_said(asked, await self._hooked(call)))

    async def _hooked(self, call: OpenCall) -> HookResult | None:
        """What hooks said of an open call."""
        said = call.hooked
        if said is None:
            return None
        arguments = None if said.arguments is None else await self._whole(said.arguments)
        code = cast("Code | None", said.code or None)
        return HookResult(
            verdict=said.verdict,
            detail=said.detail,
            code=code,
            arguments=arguments,
            rewritten_by=said.by,
            reasons=said.reasons,
        )

    async def _whole(self, text: Text) -> str:
        data = None if text.ref is None else await self._dependencies.store.blobs.get(text.ref.hash)
        return text.text if data is None else data.decode()

    def pop(self, call: str) -> Evaluation | None:
        """The verdict under which the call is run; it is asked for once."""
        self._foreign.pop(call, None)
        return self.evaluations.pop(call, None)


async def _all_of(asking: Iterable[Awaitable[HookResult | None]]) -> list[HookResult | None]:
    """What each says, once all are over: also where this is cancelled, or one of them fails, none is left behind."""
    said = await asyncio.gather(*asking, return_exceptions=True)
    failed = next((one for one in said if isinstance(one, BaseException)), None)
    if failed is not None:
        raise failed
    return [one for one in said if not isinstance(one, BaseException)]


def _as_said(call: ToolCall, hooked: HookResult | None) -> ToolCall:
    """The call as hooks left it."""
    if hooked is None:
        return call
    arguments = call.arguments if hooked.arguments is None else hooked.arguments
    return msgspec.structs.replace(call, arguments=arguments, hook_result=hooked)


def _unseen(call: OpenCall, why: Refusal) -> Evaluation:
    return Evaluation(
        verdict="deny",
        risk="high",
        read_only=False,
        arguments=call.arguments.text,
        arguments_hash=digest(call.arguments.text),
        summary=call.tool,
        checks=(Check(name="tools", verdict="deny", detail=why.problem.message),),
        code=why.code,
        message=why.problem.message,
    )
