"""The tool Write: a new file, or new content of a file."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

from ..files.changes import PlannedChange
from ..files.handles import Folder
from ..files.text_encoding import decode

NAME = "Write"
DESCRIPTION = """Create a file, or replace the whole content of a file. Creates missing folders. An existing file keeps its
encoding and line ends. To change a part of a file use `edit`."""

MAX_FILE_BYTES = 8 * 1024 * 1024


class WriteArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Write."""

    file_path: Annotated[str, Meta(description="File, relative to the folder.", min_length=1)]
    content: Annotated[str, Meta(description="Whole content of the file.")]


def plan(folder: Folder, path: str, arguments: WriteArguments) -> PlannedChange:
    """Return the change that the call would make. Raises Refusal, PathDenied, OSError."""
    before = read_existing(folder, path)
    current = decode(before) if before else None
    content, after = arguments.content, None
    if current is not None:
        if current.text.count("\r\n") == current.text.count("\n") > 0 and "\r\n" not in content:
            content = content.replace("\n", "\r\n")
        try:
            after = current.encode(content)
        except UnicodeEncodeError:
            # The old encoding lacks a character. All content is new, so UTF-8 loses nothing.
            after = None
    if after is None:
        after = encode_utf8(content, "content")
    if len(after) > MAX_FILE_BYTES:
        raise Refusal(
            "tool_arguments",
            f"content: has {len(after):,} bytes, at most {MAX_FILE_BYTES:,}.",
            field="content",
            hint="Write the content in several files.",
        )
    return PlannedChange(path, before, after)


def read_existing(folder: Folder, path: str) -> bytes | None:
    """Return the current content; None without a file. Raises Refusal `tool_failed` for a file that is too large."""
    before = folder.read(path, MAX_FILE_BYTES)
    if before is not None and len(before) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES // 1024 // 1024} MB"
        raise Refusal(
            "tool_failed", f"{path} is larger than {limit}, the limit of this tool.", hint="Change it with `bash`."
        )
    return before


def encode_utf8(text: str, field: str) -> bytes:
    """Encode the text. Raises Refusal `tool_arguments` for invalid Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refusal(
            "tool_arguments", f"{field}: is not valid Unicode.", field=field, hint="Remove unpaired surrogates."
        ) from error
