"""The tool Glob: files by a path pattern."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Glob"
DESCRIPTION = """List files that match a glob such as **/*.py or src/**/*.{ts,tsx}, sorted by path. Skips .git and files in
.gitignore, and does not follow links. To search file contents use `grep`."""

MAX_FILES = 1000


class GlobArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Glob."""

    pattern: Annotated[str, Meta(description="Glob, relative to path.", min_length=1, max_length=1000)]
    path: Annotated[str, Meta(description="Subfolder to list. Default: the whole folder.")] = ""
