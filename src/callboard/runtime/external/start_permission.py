"""What stands before an agent that is not of our loop takes part: a call that a rule or a person lets through."""

from __future__ import annotations

from callboard.contracts.errors import Code
from callboard.contracts.facts import ToolRefused, ToolStarted
from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalCallReported, RequestedCall, ToolEnded

from ..sessions.external_agents import ExpectedCall
from ..sessions.gate_decisions import GateCheck
from ..sessions.host import SessionHost
from .message_assembler import MessageAssembler

#: How a request ends that a person, or a policy in their place, was to let through, and that nobody did.
NOT_ALLOWED: tuple[Code, ...] = ("person_denied", "policy_denied", "nobody_there", "approval_expired")


async def request_call(
    host: SessionHost, scope: Scope, speech: MessageAssembler, tool: str, look: GateCheck
) -> tuple[RequestedCall, ExpectedCall]:
    """A call that the gate looks at, as a fact of the run, and what becomes of it."""
    call, step = host.dependencies.ids.new("call"), speech.next_step()
    evaluation = await host.gate_decisions.evaluate_external(scope.thread, call, look, tool)
    if evaluation.verdict == "ask":
        # The action takes the next step.
        speech.next_step()
    wanted = RequestedCall(
        call=call,
        step=step,
        tool=tool,
        arguments=evaluation.arguments,
        provider_call_id="",
        evaluation=evaluation,
    )
    expected = host.external_agents.expect(call, own=True)
    await host.report(ExternalCallReported(thread=scope.thread, run=scope.run, prompt=scope.step, call=wanted))
    return wanted, expected


async def request_permission(
    host: SessionHost, scope: Scope, speech: MessageAssembler, tool: str, look: GateCheck
) -> str:
    """The call, once it may go on. Raises ExternalFailure with `person_denied`, `policy_denied`, `nobody_there`,
    `rule_denied` or what else refused it."""
    wanted, expected = await request_call(host, scope, speech, tool, look)
    fact = await expected.started
    if isinstance(fact, ToolStarted):
        return wanted.call
    evaluation = wanted.evaluation
    if not isinstance(fact, ToolRefused):
        raise ExternalFailure("person_denied", f"{wanted.tool} was not let through. It may not be.")
    denied = evaluation.code if evaluation.verdict == "deny" else None
    raise ExternalFailure(denied or refusal_code(fact), f"{wanted.tool} was not let through. {fact.message}")


def refusal_code(refused: ToolRefused) -> Code:
    """Why a request that waited for a person came to nothing."""
    known: dict[str, Code] = {code: code for code in NOT_ALLOWED}
    return known.get(refused.code, "person_denied")


async def report_end(host: SessionHost, scope: Scope, call: str, outcome: ToolOutcome) -> None:
    """What the call came to."""
    await host.report(ToolEnded(thread=scope.thread, run=scope.run, call=call, outcome=outcome))
