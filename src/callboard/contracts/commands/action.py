"""The command that answers a pending action, and the tools by which an agent asks the person."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ..facts.action import ApprovalScope, ContinuationMode, Decision
from .base import Answer, Command, Id, Prompt, Reason, TeamToolArguments, command


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


Line = Annotated[str, Meta(min_length=1, max_length=400)]


class ProposePlanArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Ask the person whether to go on with a plan."""

    summary: Annotated[str, Meta(min_length=1, max_length=2000, description="What the plan achieves, and how.")]
    steps: Annotated[tuple[Line, ...], Meta(min_length=1, max_length=50, description="What you would do, in order.")]


class AskPersonArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Ask the person something that only a person can tell."""

    question: Annotated[str, Meta(min_length=1, max_length=4000)]
    options: Annotated[
        tuple[Line, ...], Meta(max_length=12, description="Answers to choose from; another one can be written.")
    ] = ()
    artifact: Annotated[
        str, Meta(max_length=1000, description="A file that you wrote: asks for a review of its newest version.")
    ] = ""


class PersonAnswer(Answer, frozen=True, kw_only=True):
    """What the person said. `answer` is in their words: to a question, or what they would change of a plan or an artifact."""

    decision: Literal["accepted", "rejected", "changes_wanted", "answered"]
    answer: str = ""
    reason: str = ""
