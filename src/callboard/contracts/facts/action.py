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


class Binding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The exact call that an approval covers.

    Hashes are SHA-256 in hex. `file_hash` is empty for no file and `absent` for a missing one.
    `declared` is the hash of a server's declaration of its tool.
    """

    tool: str
    arguments_hash: str
    folder: str
    definition_hash: str
    file: str = ""
    file_hash: str = ""
    declared: str = ""


class ActionRequired(Fact, frozen=True, kw_only=True):
    """A call or a question waits for a decision until `expires_at` (microseconds since the epoch, 0 for no end).

    - `matchers`: rules that the wider scopes would add. `policy`: permission mode of the
      run.
    - `sandbox`, `network`: confinement of the call if it ran now. `commands`: number of simple
      commands in a shell text, 0 for none or an unreadable text.
    - `artifact_version` of `artifact_id`: the version to review.
    - `hooked`: results of hooks, with codes in `hook_reasons`. `asked`: the model's arguments, if a
      hook replaced them by `arguments`.
    - `modes`: permission modes for an accepted plan, the default first.
    - `reasons`: why approval is required, apart from the mode and hooks. None in facts without
      codes.
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
    modes: tuple[ContinuationMode, ...] = ()
    reasons: tuple[Reason, ...] | None = None
    hook_reasons: tuple[Reason, ...] = ()


class ActionResolved(Fact, frozen=True, kw_only=True):
    """The first decision on an action, which is final.

    `answer` is the answer to a question. An accepted plan is carried out in `permission_mode` by
    the turn `next_turn`, if a turn follows.
    """

    type: ClassVar[str] = "action.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    closes: ClassVar[ScopeKey | None] = "action"
    erased: ClassVar[ErasedForm] = {"decision": UNKNOWN}
    decision: Decision
    scope: ApprovalScope = "once"
    reason: str = ""
    answer: Text = Text()
    permission_mode: ContinuationMode | None = None
    next_turn: str = ""


class ActionExpired(Fact, frozen=True, kw_only=True):
    """The action expired without an answer, which denies it."""

    type: ClassVar[str] = "action.expired"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    closes: ClassVar[ScopeKey | None] = "action"
    erased: ClassVar[ErasedForm] = {}


class ActionWithdrawn(Fact, frozen=True, kw_only=True):
    """The turn ended before an answer, so the action cannot be answered any more."""

    type: ClassVar[str] = "action.withdrawn"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "action")
    closes: ClassVar[ScopeKey | None] = "action"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


#: The ends of an action.
ActionEndFact = ActionResolved | ActionExpired | ActionWithdrawn
ActionFact = ActionRequired | ActionEndFact
