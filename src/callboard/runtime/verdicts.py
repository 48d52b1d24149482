"""The gate's verdicts on the calls of a session, from the look at a call until it has run."""

from __future__ import annotations

from collections.abc import Callable

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext
from callboard.control.decide.actions import waiting
from callboard.control.decide.calls import holds_up
from callboard.control.state import OpenCall
from callboard.tools.arguments import digest

from .keeper import StateKeeper
from .parts import Parts
from .revealing import evaluated
from .runs import Runs
from .veiling import redacted_evaluation

#: How the gate looks at a call of an agent's own tools.
Look = Callable[[ToolContext], Evaluation]


class Verdicts:
    """Asks the gate and keeps its word on each open call. `kept` is by the call's id."""

    def __init__(self, parts: Parts, keeper: StateKeeper, runs: Runs) -> None:
        self.kept: dict[str, Evaluation] = {}
        self._foreign: dict[str, Look] = {}
        self._parts = parts
        self._keeper = keeper
        self._runs = runs

    async def of(self, thread: str, call: ToolCall) -> Evaluation:
        """The gate's present verdict on a call of the thread's run."""
        context = await self._runs.tool_context(thread)
        evaluation = await evaluated(self._parts.toolbox, call, context, self._parts.secrets)
        self.kept[call.call_id] = evaluation
        return evaluation

    async def of_foreign(self, thread: str, call: str, look: Look) -> Evaluation:
        """The present verdict on a call of an agent's own tools; `look` is asked anew when a person answers."""
        self._foreign[call] = look
        evaluation = redacted_evaluation(look(await self._runs.tool_context(thread)), self._parts.secrets)
        self.kept[call] = evaluation
        return evaluation

    async def again(self, action: str) -> Evaluation | None:
        """The gate's present verdict on the call that an action is for; None where the action does not wait."""
        found = waiting(self._keeper.state, action)
        if found is None:
            return None
        thread, _, call = found
        look = self._foreign.get(call.call)
        if look is not None:
            return await self.of_foreign(thread.thread, call.call, look)
        return await self._look(thread.thread, call)

    async def waiting_their_turn(self) -> dict[str, Evaluation]:
        """The gate's present verdicts on the calls that wait for others of their answer, by their ids, up to the first that the
        others wait for. One that cannot be looked at, as nobody can read any more what its run was told, is denied: the session
        goes on without it."""
        found: dict[str, Evaluation] = {}
        for thread in self._keeper.state.threads.values():
            run = thread.run
            for call in run.calls if run is not None and not run.stopping else ():
                if call.phase != "requested":
                    continue
                try:
                    look = await self._look(thread.thread, call)
                except Refusal as refusal:
                    look = _unseen(call, refusal)
                found[call.call] = look
                if holds_up(call.tool, look):
                    break
        return found

    async def _look(self, thread: str, call: OpenCall) -> Evaluation:
        arguments = call.arguments.text
        if call.arguments.ref is not None:
            data = await self._parts.store.blobs.get(call.arguments.ref.hash)
            arguments = arguments if data is None else data.decode()
        return await self.of(thread, ToolCall(call_id=call.call, tool=call.tool, arguments=arguments))

    def take(self, call: str) -> Evaluation | None:
        """The verdict under which the call is run; it is asked for once."""
        self._foreign.pop(call, None)
        return self.kept.pop(call, None)


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
