"""Grep: the lines of files that a regular expression finds."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Grep"
DESCRIPTION = """Searches files for a regular expression (Python's syntax), line by line. Content comes as path:line:text. What
.gitignore leaves out is left out, and so are .git and files that are no text; links are not followed."""

MOST_LINES = 1000

OutputMode = Literal["content", "files_with_matches", "count"]


class GrepArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Grep."""

    pattern: Annotated[str, Meta(description="The regular expression.", min_length=1, max_length=4000)]
    path: Annotated[str, Meta(description="The file or folder to search, relative to the folder.")] = ""
    glob: Annotated[
        str, Meta(description="Only files that follow this pattern, such as *.py (at any depth).", max_length=1000)
    ] = ""
    output_mode: Annotated[OutputMode, Meta(description="Matching lines, only paths, or numbers of lines.")] = "content"
    ignore_case: Annotated[bool, Meta(description="Take upper and lower case as the same.")] = False
    before: Annotated[int, Meta(description="Lines to show before each match.", ge=0, le=100)] = 0
    after: Annotated[int, Meta(description="Lines to show after each match.", ge=0, le=100)] = 0
    context: Annotated[int, Meta(description="Lines to show before and after each match.", ge=0, le=100)] = 0
    head_limit: Annotated[int, Meta(description="The most lines or files to show.", ge=1, le=MOST_LINES)] = MOST_LINES
