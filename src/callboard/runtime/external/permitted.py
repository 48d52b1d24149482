"""What stands before an agent that is not of our loop takes part: a call that a rule or a person lets through."""

from __future__ import annotations

from callboard.contracts.facts import ToolRefused, ToolStarted
from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import CallSeen, ToolEnded, WantedCall

from ..foreign import Expected
from ..host import SessionHost
from ..verdicts import Look
from .speech import Speech


async def seen(host: SessionHost, scope: Scope, speech: Speech, tool: str, look: Look) -> tuple[WantedCall, Expected]:
    """A call that the gate looks at, as a fact of the run, and what becomes of it."""
    call, step = host.parts.ids.new("call"), speech.step()
    evaluation = await host.verdicts.of_foreign(scope.thread, call, look, tool)
    if evaluation.verdict == "ask":
        # The action takes the next step.
        speech.step()
    wanted = WantedCall(
        call=call,
        step=step,
        tool=tool,
        arguments=evaluation.arguments,
        provider_call_id="",
        evaluation=evaluation,
    )
    expected = host.foreign.expect(call, own=True)
    await host.report(CallSeen(thread=scope.thread, run=scope.run, prompt=scope.step, wanted=wanted))
    return wanted, expected


async def permitted(host: SessionHost, scope: Scope, speech: Speech, tool: str, look: Look) -> str:
    """The call, once it may go on. Raises ExternalFailure with `person_denied`, `rule_denied` or what else refused it."""
    wanted, expected = await seen(host, scope, speech, tool, look)
    fact = await expected.begun
    if isinstance(fact, ToolStarted):
        return wanted.call
    evaluation = wanted.evaluation
    code = evaluation.code if evaluation.verdict == "deny" and evaluation.code is not None else "person_denied"
    message = fact.message if isinstance(fact, ToolRefused) else "It may not be."
    raise ExternalFailure(code, f"{wanted.tool} was not let through. {message}")


async def end(host: SessionHost, scope: Scope, call: str, outcome: ToolOutcome) -> None:
    """What the call came to."""
    await host.report(ToolEnded(thread=scope.thread, run=scope.run, call=call, outcome=outcome))
