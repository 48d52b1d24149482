"""Finalize: an agent that works on its own says that its objective is met."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Finalize"
DESCRIPTION = "Ends the work: the objective is met. Say in the summary what was done, and what was not."


class FinalizeArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Finalize."""

    summary: Annotated[str, Meta(description="What was done, and what was not.", min_length=1)]
