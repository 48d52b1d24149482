"""Command that answers a pending action, and tools by which an agent asks a person."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ..facts.action import ApprovalScope, ContinuationMode, Decision
from .base import Answer, Command, Id, Prompt, Reason, TeamToolArguments, command


class ActionAnswered(Answer, frozen=True, kw_only=True):
    """The final decision.

    `first` is False if an earlier answer, the expiry or a withdrawal came first.
    """

    session_id: str
    action_id: str
    outcome: str
    first: bool
    sequence: int


@command("respond_action", ActionAnswered)
class RespondAction(Command, frozen=True, kw_only=True):
    """Resolve a pending action.

    A second answer changes nothing and returns the first decision. `answer` is valid with the decision `answer` only.
    An approval with a wider scope than `once` can expire at `expires_at`, in microseconds since the epoch.
    `permission_mode` is valid with the approval of a plan from a planning turn. It must be one of the action's `modes`,
    whose first is the default; the next turn runs in that mode. `unattended` marks a rejection that no person gave,
    because no person could be asked.
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
    """Propose a plan and wait for a person's decision."""

    summary: Annotated[str, Meta(min_length=1, max_length=2000, description="Goal of the plan and the approach.")]
    steps: Annotated[tuple[Line, ...], Meta(min_length=1, max_length=50, description="Steps of the plan, in order.")]


class AskPersonArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Ask a person a question."""

    question: Annotated[str, Meta(min_length=1, max_length=4000)]
    options: Annotated[
        tuple[Line, ...], Meta(max_length=12, description="Suggested answers. The person may write another.")
    ] = ()
    artifact: Annotated[
        str,
        Meta(max_length=1000, description="Path of a file that you wrote, to request a review of its newest version."),
    ] = ""


class PersonAnswer(Answer, frozen=True, kw_only=True):
    """A person's answer: to a question, or the requested changes of a plan or an artifact."""

    decision: Literal["accepted", "rejected", "changes_wanted", "answered"]
    answer: str = ""
    reason: str = ""
