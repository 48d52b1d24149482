"""Facts of actions: requests that only a person or a policy can answer."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact
from .permission import Reason, Risk
from .tool import SandboxLevel

ActionType = Literal[
    "tool_approval",
    "plan_decision",
    "teammate_plan_decision",
    "structured_input",
    "clarification",
    "permission_grant",
    "delegated_permission",
    "credential_request",
    "artifact_review",
]
Decision = Literal["approve", "reject", "answer"]
ApprovalScope = Literal["once", "session", "workspace"]
#: Permission modes in which an accepted plan can be carried out.
ContinuationMode = Literal["ask", "edits", "full"]


class Binding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What exactly an approval is given for. All hashes are SHA-256 in hex; `file_hash` is empty where no file is touched
    and `absent` where the file does not exist yet. `declared` is of what a server declares of a tool that it brings."""

    tool: str
    arguments_hash: str
    folder: str
    definition_hash: str
    file: str = ""
    file_hash: str = ""
    declared: str = ""


class ActionRequired(Fact, frozen=True, kw_only=True):
    """A decision is needed. `expires_at` is in microseconds since the epoch; 0 means that it does not expire.

    `matchers` are the rules that the wider scopes would make, so that the person sees what they would allow. `sandbox` is what
    would hold the call in if it were run as things stand, and `network` whether it would have one. `artifact_version` of
    `artifact_id` is what a person is asked to review. `hooked` is what hooks said of the call, which may be why it is asked
    about; `asked` are the model's own arguments where a hook put `arguments` in their place.
    """

    type: ClassVar[str] = "action.required"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    erased: ClassVar[ErasedForm] = {
        "action_type": "tool_approval",
        "prompt": "",
        "decisions": (),
        "scopes": (),
        "risk": "high",
        "arguments": ERASED,
    }
    action_type: ActionType
    prompt: str
    decisions: tuple[Decision, ...]
    scopes: tuple[ApprovalScope, ...]
    risk: Risk
    tool: str = ""
    arguments: Text = Text()
    preview: Text | None = None
    matchers: dict[ApprovalScope, str] = msgspec.field(default_factory=dict[ApprovalScope, str])
    binding: Binding | None = None
    expires_at: int = 0
    policy: str = ""
    sandbox: SandboxLevel | None = None
    network: bool = False
    artifact_id: str = ""
    artifact_version: int = 0
    hooked: str = ""
    asked: Text | None = None
    commands: int = 0
    """Simple commands of the shell text that would run; 0 for a call without one, and for a text that cannot be read."""
    modes: tuple[ContinuationMode, ...] = ()
    """Permission modes in which an accepted plan can be carried out, the default first; empty for any other action."""
    reasons: tuple[Reason, ...] | None = None
    """Why a person is asked, beside the mode of the run and what hooks said. None in facts of versions that had no codes."""
    hook_reasons: tuple[Reason, ...] = ()
    """The same as `hooked`; empty in facts of versions that had no codes."""


class ActionResolved(Fact, frozen=True, kw_only=True):
    """The decision was given. It is the first and only one; later answers get this one back. `answer` is what was said to a
    question."""

    type: ClassVar[str] = "action.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    closes: ClassVar[ScopeKey | None] = "action"
    erased: ClassVar[ErasedForm] = {"decision": UNKNOWN}
    decision: Decision
    scope: ApprovalScope = "once"
    reason: str = ""
    answer: Text = Text()
    permission_mode: ContinuationMode | None = None
    """Mode in which the accepted plan is carried out. None where no turn follows from the decision."""
    next_turn: str = ""
    """Turn that carries out the accepted plan."""


class ActionExpired(Fact, frozen=True, kw_only=True):
    """Nobody answered in time, which is a denial."""

    type: ClassVar[str] = "action.expired"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    closes: ClassVar[ScopeKey | None] = "action"
    erased: ClassVar[ErasedForm] = {}


class ActionWithdrawn(Fact, frozen=True, kw_only=True):
    """The turn ended before an answer came; the request stands no longer."""

    type: ClassVar[str] = "action.withdrawn"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    closes: ClassVar[ScopeKey | None] = "action"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


#: The ends of an action.
ActionEndFact = ActionResolved | ActionExpired | ActionWithdrawn
ActionFact = ActionRequired | ActionEndFact
