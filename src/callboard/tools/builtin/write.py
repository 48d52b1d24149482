"""Write: create a file or replace its whole content."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

from ..files.changes import PlannedChange
from ..files.handles import Folder
from ..files.text_encoding import decode

NAME = "Write"
DESCRIPTION = """Create a file with this content, or replace the whole file. Missing folders are created.
Use `edit` to change part of a file. An existing file keeps its encoding and line ends."""

LARGEST_FILE = 8 * 1024 * 1024


class WriteArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Write."""

    file_path: Annotated[str, Meta(description="The file, relative to the folder.", min_length=1)]
    content: Annotated[str, Meta(description="The whole content of the file.")]


def plan(folder: Folder, path: str, asked: WriteArguments) -> PlannedChange:
    """Return the change that the call would make.

    Raises:
        Refusal: `tool_arguments`.
        PathDenied, OSError: The file cannot be opened.
    """
    before = read_existing(folder, path)
    found = decode(before) if before else None
    content, after = asked.content, None
    if found is not None:
        if found.text.count("\r\n") == found.text.count("\n") > 0 and "\r\n" not in content:
            content = content.replace("\n", "\r\n")
        try:
            after = found.encode(content)
        except UnicodeEncodeError:
            # The old encoding lacks a character, and the whole content is new.
            after = None
    if after is None:
        after = encode_utf8(content, "content")
    if len(after) > LARGEST_FILE:
        raise Refusal(
            "tool_arguments", f"content: {len(after):,} bytes, at most {LARGEST_FILE:,} are written.", field="content"
        )
    return PlannedChange(path, before, after)


def read_existing(folder: Folder, path: str) -> bytes | None:
    """Return the file's content before the change; None if there is no file.

    Raises:
        Refusal: `tool_failed` if the file is too large for tools to change.
    """
    before = folder.read(path, LARGEST_FILE)
    if before is not None and len(before) > LARGEST_FILE:
        most = f"{LARGEST_FILE // 1024 // 1024} MB"
        raise Refusal("tool_failed", f"{path} is larger than {most}, the most that is changed by this tool.")
    return before


def encode_utf8(text: str, field: str) -> bytes:
    """Encode the text. Raises Refusal `tool_arguments` for invalid Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refusal("tool_arguments", f"{field}: is not valid Unicode text.", field=field) from error
