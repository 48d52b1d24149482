"""Run configuration, commands, evaluations and outcomes for tests of decisions.

Entities are named by their number: `at(turn=1, run=1, step=2, call=1)`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.turn import InterruptTurn, SteerTurn, SubmitTurn
from callboard.contracts.content import make_blob
from callboard.contracts.errors import Code
from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.model import Candidate, StopReason
from callboard.contracts.facts.permission import Check, Verdict
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptRef
from callboard.contracts.ports.model import Usage
from callboard.contracts.ports.tools import Evaluation, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.decision_inputs import RunConfig
from callboard.control.outcomes import ModelAttemptFailed, ModelResponded, Piece, RequestedCall, RunStopped, ToolEnded

SESSION = "ses_1"
WORKSPACE = "wks_1"
THREAD = "thr_1"
FOLDER = "/srv/site"
#: Microseconds since the epoch.
NOW = 1_700_000_000_000_000

ROLE = make_blob(b"You keep the site in order.", "text/markdown; charset=utf-8")
PROMPTS = (PromptRef(layer="role", hash=ROLE.ref.hash, size=ROLE.ref.size),)
TOOLS = ("Bash", "Finalize", "Read", "Write")
CHOSEN = Candidate(provider="local", model="small")
RUN_CONFIG = RunConfig(
    agent_name="lead",
    kind="main",
    definition="lead",
    definition_hash="d1",
    max_iters=3,
    prompts=PROMPTS,
    prompt_blobs=(ROLE,),
    tools=TOOLS,
    candidates=(CHOSEN,),
    chosen=0,
    route_reason="the only model",
    workspace_sequence=7,
)

CHECKS = (Check(name="tools", verdict="allow"),)
SANDBOX = SandboxApplied(level="paths", network=False, writable=(FOLDER,))
BINDING = Binding(tool="Write", arguments_hash="a1", folder=FOLDER, definition_hash="d1", file="a.md", file_hash="f1")
MATCHERS: dict[ApprovalScope, str] = {"session": "Write(a.md)", "workspace": "Write(*)"}
DIFF = "+ a line"


def configure_run(definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
    """Return the same configuration for every run."""
    return RUN_CONFIG


def at(*, turn: int = 0, run: int = 0, step: int = 0, call: int = 0, action: int = 0, thread: str = THREAD) -> Scope:
    """Return the scope of an entity of the lead's thread by its numbers."""
    return Scope(
        agent="lead",
        thread=thread,
        turn=f"trn_{turn}" if turn else "",
        run=f"run_{run}" if run else "",
        step=step,
        tool_call=f"cal_{call}" if call else "",
        action=f"act_{action}" if action else "",
    )


# Commands.


def submit(text: str = "do it", **fields: Any) -> SubmitTurn:
    return SubmitTurn(text=text, workspace_id=WORKSPACE, **fields)


def steer(text: str, **fields: Any) -> SteerTurn:
    return SteerTurn(session_id=SESSION, text=text, **fields)


def interrupt(**fields: Any) -> InterruptTurn:
    return InterruptTurn(session_id=SESSION, **fields)


def approve(action: int = 1, scope: ApprovalScope = "once", **fields: Any) -> RespondAction:
    return RespondAction(session_id=SESSION, action_id=f"act_{action}", decision="approve", scope=scope, **fields)


def reject(action: int = 1, **fields: Any) -> RespondAction:
    return RespondAction(session_id=SESSION, action_id=f"act_{action}", decision="reject", **fields)


# Evaluations of the gate.


def gate_evaluation(verdict: Verdict, *, read_only: bool = True, **fields: Any) -> Evaluation:
    """Return the gate's evaluation of a call. Read-only calls run in parallel."""
    return Evaluation(
        verdict=verdict,
        risk="low",
        read_only=read_only,
        arguments='{"path":"a.md"}',
        arguments_hash="a1",
        summary="a.md",
        checks=CHECKS,
        **fields,
    )


ALLOW = gate_evaluation("allow", sandbox=SANDBOX)
ASK = gate_evaluation(
    "ask",
    prompt="Write a.md?",
    preview=DIFF,
    binding=BINDING,
    scopes=("once", "session", "workspace"),
    matchers=MATCHERS,
    sandbox=SANDBOX,
)
DENY = gate_evaluation("deny", code="path_denied", message="The path leads out of the folder.")
#: The same for calls that may change something. They run one after another.
SERIAL = msgspec.structs.replace(ALLOW, read_only=False)
SERIAL_ASK = msgspec.structs.replace(ASK, read_only=False)
SERIAL_DENY = msgspec.structs.replace(DENY, read_only=False)


# Outcomes that the runtime reports.


def requested_call(call: int, step: int, evaluation: Evaluation = ALLOW, tool: str = "Write") -> RequestedCall:
    """Return a call of a model's response."""
    return RequestedCall(
        call=f"cal_{call}",
        step=step,
        tool=tool,
        arguments='{"path": "a.md"}',
        provider_call_id=f"call-{call}",
        evaluation=evaluation,
    )


def text_part(step: int, content: str) -> Piece:
    return Piece(kind="text", step=step, text=content)


def model_response(
    *parts: Piece | RequestedCall, run: int = 1, step: int = 1, stop: StopReason | None = None, thread: str = THREAD
) -> ModelResponded:
    """Return a complete response to the model call at that step."""
    calls = tuple(part for part in parts if isinstance(part, RequestedCall))
    return ModelResponded(
        thread=thread,
        run=f"run_{run}",
        step=step,
        pieces=tuple(part for part in parts if isinstance(part, Piece)),
        calls=calls,
        stop_reason=stop or ("tool_calls" if calls else "stop"),
        usage=Usage(input_tokens=10, output_tokens=2),
        first_ms=5,
        duration_ms=9,
        response_id="r",
    )


def text_response(content: str, *, run: int = 1, step: int = 1) -> ModelResponded:
    """Return a response of plain text: the first part after the model call."""
    return model_response(text_part(step + 1, content), run=run, step=step)


def attempt_failure(
    *pieces: Piece, run: int = 1, step: int = 1, attempt: int = 1, retry_in_ms: int | None = None
) -> ModelAttemptFailed:
    return ModelAttemptFailed(
        thread=THREAD,
        run=f"run_{run}",
        step=step,
        attempt=attempt,
        code="model_unavailable",
        message="The provider cannot be reached.",
        retryable=True,
        retry_in_ms=retry_in_ms,
        pieces=pieces,
    )


def tool_end(call: int, output: str = "done", *, run: int = 1, code: Code | None = None) -> ToolEnded:
    outcome = ToolOutcome(output=output, code=code, message="It failed." if code else "", duration_ms=4)
    return ToolEnded(thread=THREAD, run=f"run_{run}", call=f"cal_{call}", outcome=outcome)


def run_stop(*pieces: Piece, run: int = 1, **fields: Any) -> RunStopped:
    return RunStopped(thread=THREAD, run=f"run_{run}", pieces=pieces, **{"cause": "person", **fields})
