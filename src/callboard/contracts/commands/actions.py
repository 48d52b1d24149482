"""The command that answers a pending action."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..facts.action import ApprovalScope, ContinuationMode, Decision
from .base import Answer, Command
from .turns import Id, Prompt, Reason


class RespondAction(Command, frozen=True, kw_only=True):
    """Resolve a pending request. A second answer changes nothing and gets the first decision back. `answer` goes with the
    decision `answer` and with no other. An approval with a wider scope than once may end at `expires_at`, in microseconds
    since the epoch. `permission_mode` goes with the approval of a plan that was made while planning, and is one of the action's
    `modes`: the turn ends with the plan, and the next one carries it out in that mode. The first of `modes` is the default.
    `unattended` goes with a rejection: it is nobody's no, since nobody was
    there to be asked."""

    session_id: Id
    action_id: Id
    decision: Decision
    scope: ApprovalScope = "once"
    reason: Reason = ""
    answer: Prompt | None = None
    expires_at: Annotated[int, Meta(ge=0, le=9_007_199_254_740_991)] = 0
    permission_mode: ContinuationMode | None = None
    unattended: bool = False


class ActionAnswered(Answer, frozen=True, kw_only=True):
    """The decision that holds. `first` is False where an earlier answer, an expiry or a withdrawal had settled it."""

    session_id: str
    action_id: str
    outcome: str
    first: bool
    sequence: int
