"""Expected facts of every turn, each with its scope."""

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

ScopedFact = tuple[Fact, Scope]


def turn_start(turn: int, run: int, *, mode: Mode = "chat") -> tuple[ScopedFact, ...]:
    """Return the facts of a turn's start and of its first model request."""
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
        model_request(1, at(turn=turn, run=run, step=1)),
    )


def model_request(iteration: int, scope: Scope) -> ScopedFact:
    """Return a model request. `StepResult.then` sets its `context_through`."""
    return (
        ModelRequested(
            provider="local",
            model="small",
            iteration=iteration,
            context_through=0,
        ),
        scope,
    )


def message_text(content: str, scope: Scope) -> ScopedFact:
    return MessageText(content=Text(text=content)), scope


def model_completion(scope: Scope, stop: StopReason = "stop") -> tuple[ScopedFact, ...]:
    """Return the facts that complete the model call in that scope."""
    return (
        (ModelCompleted(stop_reason=stop, first_ms=5, duration_ms=9, response_id="r"), scope),
        (CostRecorded(input_tokens=10, output_tokens=2), scope),
    )


def tool_request(call: int, scope: Scope, evaluation: Evaluation, tool: str = "Write") -> tuple[ScopedFact, ...]:
    """Return the facts of a call and of the gate's verdict on it."""
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


def tool_start(scope: Scope, tool: str = "Write") -> tuple[ScopedFact, ...]:
    """Return the facts of a call that starts in the recorded sandbox."""
    return (SANDBOX, scope), (ToolStarted(tool=tool), scope)


def approval_request(step: int, action: int, scope: Scope, *, expires_at: int = 0) -> ScopedFact:
    """Return the action of a call that waits for a person."""
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
