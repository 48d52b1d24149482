"""Glob: the files whose paths follow a pattern."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Glob"
DESCRIPTION = """Lists files by a pattern such as **/*.py or src/**/*.{ts,tsx}, in the order of their paths. What .gitignore
leaves out is left out, and so is .git; links are not followed."""

MOST_FILES = 1000


class GlobArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Glob."""

    pattern: Annotated[str, Meta(description="The pattern, from path down.", min_length=1, max_length=1000)]
    path: Annotated[str, Meta(description="The folder to look in, relative to the folder; all of it if left out.")] = ""
