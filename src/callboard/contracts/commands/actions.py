"""The command that answers a pending action."""

from __future__ import annotations

from ..facts.action import ApprovalScope, Decision
from .base import Answer, Command
from .turns import Id, Prompt, Reason


class RespondAction(Command, frozen=True, kw_only=True):
    """Resolve a pending request. A second answer changes nothing and gets the first decision back. `answer` goes with the
    decision `answer` and with no other."""

    session_id: Id
    action_id: Id
    decision: Decision
    scope: ApprovalScope = "once"
    reason: Reason = ""
    answer: Prompt | None = None


class ActionAnswered(Answer, frozen=True, kw_only=True):
    """The decision that holds. `first` is False where an earlier answer, an expiry or a withdrawal had settled it."""

    session_id: str
    action_id: str
    outcome: str
    first: bool
    sequence: int
