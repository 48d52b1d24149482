"""What an agent asks of the person: a decision on its plan, an answer to its question. The person's word is the result."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .base import Answer
from .team import Asked

Line = Annotated[str, Meta(min_length=1, max_length=400)]


class ProposePlan(Asked, frozen=True, kw_only=True):
    """Ask the person whether to go on with a plan."""

    summary: Annotated[str, Meta(min_length=1, max_length=2000, description="What the plan achieves, and how.")]
    steps: Annotated[tuple[Line, ...], Meta(min_length=1, max_length=50, description="What you would do, in order.")]


class AskPerson(Asked, frozen=True, kw_only=True):
    """Ask the person something that only a person can tell."""

    question: Annotated[str, Meta(min_length=1, max_length=4000)]
    options: Annotated[
        tuple[Line, ...], Meta(max_length=12, description="Answers to choose from; another one can be written.")
    ] = ()
    artifact: Annotated[
        str, Meta(max_length=1000, description="A file that you wrote: asks for a review of its newest version.")
    ] = ""


class PersonSaid(Answer, frozen=True, kw_only=True):
    """What the person said. `answer` is in their words: to a question, or what they would change of a plan or an artifact."""

    decision: Literal["accepted", "rejected", "changes_wanted", "answered"]
    answer: str = ""
    reason: str = ""
