"""The tool Edit: an exact replacement in a file."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

from ..files.changes import PlannedChange
from ..files.handles import Folder
from ..files.text_encoding import decode, describe_kind, format_size
from .write import MAX_FILE_BYTES, read_existing

NAME = "Edit"
DESCRIPTION = """Replace old_string with new_string in a file. Read the file first. old_string must match the file exactly,
including indentation and without the line numbers of `read`, and occur exactly once: add surrounding lines to make it unique,
or set replace_all. Line ends and encoding are kept."""


class EditArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Edit."""

    file_path: Annotated[str, Meta(description="File, relative to the folder.", min_length=1)]
    old_string: Annotated[str, Meta(description="Text to replace.", min_length=1)]
    new_string: Annotated[str, Meta(description="Replacement.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


def plan(folder: Folder, path: str, arguments: EditArguments) -> PlannedChange:
    """Return the change that the call would make. Raises Refusal, PathDenied, OSError."""
    if arguments.old_string == arguments.new_string:
        raise _build_refusal("new_string", "equals old_string, so nothing would change", "Send another new_string.")
    before = read_existing(folder, path)
    if before is None:
        raise Refusal("tool_failed", f"There is no file {path}.", field="file_path", hint="Use `write` to create it.")
    current = decode(before)
    if current is None:
        raise Refusal(
            "tool_failed",
            f"{path} is {describe_kind(before)}, {format_size(len(before))}: `edit` changes only text.",
            hint="Replace it with `write`, or change it with `bash`.",
        )
    old, new = arguments.old_string, arguments.new_string
    count = current.text.count(old)
    if count == 0 and "\n" in old and "\r\n" in current.text:
        old, new = _to_crlf(old), _to_crlf(new)
        count = current.text.count(old)
    elif "\n" in new and "\n" not in old and _is_crlf(current.text):
        new = _to_crlf(new)
    if count == 0:
        raise _build_refusal("old_string", f"is not in {path}", "Read the file and copy the text exactly.")
    if count > 1 and not arguments.replace_all:
        raise _build_refusal(
            "old_string", f"occurs {count} times in {path}", "Add surrounding lines, or set replace_all."
        )
    try:
        after = current.encode(current.text.replace(old, new))
    except UnicodeEncodeError as error:
        raise _build_refusal(
            "new_string",
            f"has characters that {path} cannot store: it is {current.encoding}",
            "Leave them out, or replace the file with `write`.",
        ) from error
    if len(after) > MAX_FILE_BYTES:
        raise _build_refusal(
            "new_string",
            f"makes the file larger than the limit of {MAX_FILE_BYTES:,} bytes",
            "Shorten it, or use another file.",
        )
    return PlannedChange(path, before, after)


def _is_crlf(text: str) -> bool:
    return text.count("\r\n") == text.count("\n") > 0


def _to_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _build_refusal(field: str, problem: str, hint: str) -> Refusal:
    return Refusal("tool_arguments", f"{field}: {problem}.", field=field, hint=hint)
