"""The tool Grep: lines of files by a regular expression."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments

NAME = "Grep"
DESCRIPTION = """Search file contents line by line with a regular expression (Python syntax). Matches are shown as
path:line:text. Skips .git, binary files and files in .gitignore, and does not follow links."""

MAX_LINES = 1000

OutputMode = Literal["content", "files_with_matches", "count"]


class GrepArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Grep."""

    pattern: Annotated[str, Meta(description="Regular expression.", min_length=1, max_length=4000)]
    path: Annotated[str, Meta(description="File or subfolder to search. Default: the whole folder.")] = ""
    glob: Annotated[
        str,
        Meta(description="Search only files that match this glob, such as *.py (at any depth).", max_length=1000),
    ] = ""
    output_mode: Annotated[OutputMode, Meta(description="Matching lines, paths only, or line counts.")] = "content"
    ignore_case: Annotated[bool, Meta(description="Ignore case.")] = False
    before: Annotated[int, Meta(description="Lines to show before each match.", ge=0, le=100)] = 0
    after: Annotated[int, Meta(description="Lines to show after each match.", ge=0, le=100)] = 0
    context: Annotated[int, Meta(description="Lines to show before and after each match.", ge=0, le=100)] = 0
    head_limit: Annotated[int, Meta(description="Maximum number of lines or files.", ge=1, le=MAX_LINES)] = MAX_LINES
