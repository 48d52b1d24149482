"""The tool Finalize: the end of an autonomous agent's work."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Finalize"
DESCRIPTION = """End the work when the objective is met, or when you cannot continue. In the summary report the result, what
was done, and what was not."""


class FinalizeArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Finalize."""

    summary: Annotated[str, Meta(description="The result, what was done, and what was not.", min_length=1)]
