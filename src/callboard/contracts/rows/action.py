"""Rows of actions: the pending ones, and their audit lines in the conversation."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..facts.action import ActionType, ApprovalScope, ContinuationMode, Decision
from ..facts.permission import Reason, Risk
from ..facts.tool import SandboxLevel
from .base import Row
from .part import Part

#: `unknown` if the fact of the outcome was erased.
ActionOutcome = Literal["pending", "approved", "rejected", "answered", "expired", "withdrawn", "unknown"]


class ActionPart(Part, tag="action_required", frozen=True, kw_only=True):
    """The audit line of an action.

    `settled_at` is the time of its outcome, 0 while it is pending. An accepted plan is carried out
    in `permission_mode` by the turn `next_turn_id`.
    """

    action_id: str
    action_type: ActionType
    tool: str
    prompt: str
    outcome: ActionOutcome
    answered_scope: ApprovalScope | None = None
    reason: str = ""
    answer: Text = Text()
    actor: str = ""
    settled_at: int = 0
    permission_mode: ContinuationMode | None = None
    next_turn_id: str = ""


class RequestedChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The requested change of a file.

    `differs` is False if the file would stay equal. It and the line counts are absent if the
    preview is incomplete, the counts also for binary content.
    """

    path: str
    creates: bool = False
    differs: bool | None = None
    added: int | None = None
    removed: int | None = None


class ActionRow(Row, tag="action", frozen=True, kw_only=True):
    """A pending action.

    It leaves the panel once it is resolved; the conversation keeps an audit line.

    - `agent_name`: the requesting agent. `parent_agent_id`: its parent, for a child.
    - `prompt`: the question in English. A client can format its own from `tool`, `change`, `policy`
      (the run's permission mode), `reasons` and `hook_reasons`, which are absent in older sessions.
    - `expires_at`: microseconds since the epoch, 0 for never. `matchers`: rules that the wider
      scopes would add.
    - `sandbox`, `network`: confinement of the call; None if unknown. `commands`: number of simple
      commands in a shell text, 0 for none or an unreadable text.
    - `artifact_version` of `artifact_id`: the version to review.
    - `hooked`: results of hooks. `asked`: the model's arguments, if a hook replaced them.
    - `modes`: permission modes for an accepted plan, the default first.
    """

    panel: ClassVar[str] = "actions"
    action_id: str
    action_type: ActionType
    turn_id: str
    thread_id: str
    agent_id: str
    agent_name: str = ""
    parent_agent_id: str = ""
    tool_call_id: str = ""
    tool: str = ""
    prompt: str
    arguments: Text = Text()
    preview: Text | None = None
    change: RequestedChange | None = None
    risk: Risk = "none"
    decisions: tuple[Decision, ...]
    scopes: tuple[ApprovalScope, ...] = ()
    matchers: dict[ApprovalScope, str] = msgspec.field(default_factory=dict[ApprovalScope, str])
    policy: str = ""
    sandbox: SandboxLevel | None = None
    network: bool = False
    required_at: int
    expires_at: int = 0
    artifact_id: str = ""
    artifact_version: int = 0
    hooked: str = ""
    hook_reasons: tuple[Reason, ...] = ()
    asked: Text | None = None
    commands: int = 0
    modes: tuple[ContinuationMode, ...] = ()
    reasons: tuple[Reason, ...] | None = None
