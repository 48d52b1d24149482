"""The facts that come in every turn, as tests expect them: each with its scope."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested, RoutingResolved, StopReason
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.tool import ToolRequested, ToolStarted
from callboard.contracts.facts.turn import Mode, TurnStarted
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.scope import Scope
from tests.control.rigs.examples import BINDING, CHOSEN, DIFF, MATCHERS, PROMPTS, SANDBOX, TOOLS, at

Told = tuple[Fact, Scope]


def begun(turn: int, run: int, *, mode: Mode = "chat") -> tuple[Told, ...]:
    """A turn starts and its model is asked for the first time."""
    scope = at(turn=turn, run=run)
    return (
        (
            TurnStarted(
                mode=mode,
                permission_mode="ask",
                max_iters=3,
                definition="lead",
                definition_hash="d1",
                workspace_sequence=7,
                prompts=PROMPTS,
                tools=TOOLS,
            ),
            scope,
        ),
        (RoutingResolved(candidates=(CHOSEN,), chosen=CHOSEN, reason="the only model"), scope),
        asked(1, at(turn=turn, run=run, step=1)),
    )


def asked(iteration: int, scope: Scope) -> Told:
    """The model is asked; `given` knows which facts stand before this one."""
    return (
        ModelRequested(
            provider="local",
            model="small",
            iteration=iteration,
            context_through=0,
        ),
        scope,
    )


def told(said: str, scope: Scope) -> Told:
    return MessageText(content=Text(text=said)), scope


def completed(scope: Scope, stop: StopReason = "stop") -> tuple[Told, ...]:
    """The answer to the model call in that scope is complete."""
    return (
        (ModelCompleted(stop_reason=stop, first_ms=5, duration_ms=9, response_id="r"), scope),
        (CostRecorded(input_tokens=10, output_tokens=2), scope),
    )


def requested(call: int, scope: Scope, evaluation: Evaluation, tool: str = "Write") -> tuple[Told, ...]:
    """A call and the gate's verdict on it."""
    return (
        (
            ToolRequested(
                tool=tool,
                arguments=Text(text='{"path":"a.md"}'),
                summary="a.md",
                provider_call_id=f"call-{call}",
            ),
            scope,
        ),
        (
            PermissionEvaluated(
                tool=tool,
                verdict=evaluation.verdict,
                risk="low",
                arguments_hash="a1",
                checks=evaluation.checks,
            ),
            scope,
        ),
    )


def through(scope: Scope, tool: str = "Write") -> tuple[Told, ...]:
    """The call is run, under the confinement that is told."""
    return (SANDBOX, scope), (ToolStarted(tool=tool), scope)


def approval(step: int, action: int, scope: Scope, *, expires_at: int = 0) -> Told:
    """The call in that scope waits for a person."""
    fact = ActionRequired(
        action_type="tool_approval",
        prompt="Write a.md?",
        decisions=("approve", "reject"),
        scopes=("once", "session", "workspace"),
        risk="low",
        tool="Write",
        arguments=Text(text='{"path":"a.md"}'),
        preview=Text(text=DIFF),
        matchers=MATCHERS,
        binding=BINDING,
        expires_at=expires_at,
        policy="ask",
        sandbox="paths",
        reasons=(),
    )
    return fact, msgspec.structs.replace(scope, step=step, action=f"act_{action}")
