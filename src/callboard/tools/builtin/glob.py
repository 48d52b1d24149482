"""Glob: list files by a path pattern."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Glob"
DESCRIPTION = """List files that match a pattern such as **/*.py or src/**/*.{ts,tsx}, sorted by path. Files ignored by
.gitignore and .git are left out. Links are not followed."""

MOST_FILES = 1000


class GlobArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Glob."""

    pattern: Annotated[str, Meta(description="The pattern, from path down.", min_length=1, max_length=1000)]
    path: Annotated[str, Meta(description="Subfolder to list, relative to the folder. Default: the whole folder.")] = ""
