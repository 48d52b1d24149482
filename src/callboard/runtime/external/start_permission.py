"""Permission to start or contact an external agent."""

from __future__ import annotations

from callboard.contracts.errors import Code
from callboard.contracts.facts.tool import ToolRefused, ToolStarted
from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalCallReported, RequestedCall, ToolEnded

from ..sessions.external_agents import ExpectedCall
from ..sessions.gate_decisions import GateCheck
from ..sessions.host import SessionHost
from .message_assembler import MessageAssembler

#: Codes of a request that no person or policy allowed.
NOT_ALLOWED: tuple[Code, ...] = ("person_denied", "policy_denied", "nobody_there", "approval_expired")


async def request_call(
    host: SessionHost, scope: Scope, assembler: MessageAssembler, tool: str, check: GateCheck
) -> tuple[RequestedCall, ExpectedCall]:
    """Evaluate and report a call; return it with a waiter for its facts."""
    call, step = host.dependencies.ids.new("call"), assembler.advance_step()
    evaluation = await host.gate_decisions.evaluate_external(scope.thread, call, check, tool)
    if evaluation.verdict == "ask":
        # The action uses the next step.
        assembler.advance_step()
    request = RequestedCall(
        call=call,
        step=step,
        tool=tool,
        arguments=evaluation.arguments,
        provider_call_id="",
        evaluation=evaluation,
    )
    expected = host.external_agents.expect(call, by_agent=True)
    await host.report(ExternalCallReported(thread=scope.thread, run=scope.run, prompt=scope.step, call=request))
    return request, expected


async def request_permission(
    host: SessionHost, scope: Scope, assembler: MessageAssembler, tool: str, check: GateCheck
) -> str:
    """Return the id of the call when it is allowed."""
    request, expected = await request_call(host, scope, assembler, tool, check)
    fact = await expected.started
    if isinstance(fact, ToolStarted):
        return request.call
    evaluation = request.evaluation
    if not isinstance(fact, ToolRefused):
        raise ExternalFailure("person_denied", f"{request.tool} was not allowed.")
    denied = evaluation.code if evaluation.verdict == "deny" else None
    raise ExternalFailure(denied or get_refusal_code(fact), f"{request.tool} was not allowed. {fact.message}")


def get_refusal_code(refused: ToolRefused) -> Code:
    """Return why a request was not allowed."""
    codes: dict[str, Code] = {code: code for code in NOT_ALLOWED}
    return codes.get(refused.code, "person_denied")


async def report_end(host: SessionHost, scope: Scope, call: str, outcome: ToolOutcome) -> None:
    """Report the outcome of the call."""
    await host.report(ToolEnded(thread=scope.thread, run=scope.run, call=call, outcome=outcome))
