"""The command that answers a pending action."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..facts.action import ApprovalScope, ContinuationMode, Decision
from .base import Answer, Command, command
from .turns import Id, Prompt, Reason


class ActionAnswered(Answer, frozen=True, kw_only=True):
    """The decision that holds. `first` is False where an earlier answer, an expiry or a withdrawal had settled it."""

    session_id: str
    action_id: str
    outcome: str
    first: bool
    sequence: int


@command("respond_action", ActionAnswered)
class RespondAction(Command, frozen=True, kw_only=True):
    """Resolve a pending action.

    A second response changes nothing and returns the first decision. `answer` is valid with the decision `answer` only.
    An approval with a wider scope than `once` can expire at `expires_at`, in microseconds since the epoch.
    `permission_mode` is valid with the approval of a plan from a planning turn. It must be one of the action's `modes`,
    whose first is the default; the next turn runs in that mode. `unattended` marks a rejection that no user gave,
    because no user could be asked.
    """

    session_id: Id
    action_id: Id
    decision: Decision
    scope: ApprovalScope = "once"
    reason: Reason = ""
    answer: Prompt | None = None
    expires_at: Annotated[int, Meta(ge=0, le=9_007_199_254_740_991)] = 0
    permission_mode: ContinuationMode | None = None
    unattended: bool = False
