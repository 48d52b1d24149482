"""Edit: replace exact text in a file."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

from ..files.changes import PlannedChange
from ..files.handles import Folder
from ..files.text_encoding import decode, describe_kind, format_size
from .write import LARGEST_FILE, read_existing

NAME = "Edit"
DESCRIPTION = """Replace old_string with new_string in a file. old_string must match the file exactly, including white space
and without the line numbers of `read`. It must occur once, unless replace_all is set. Line ends and encoding stay."""


class EditArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Edit."""

    file_path: Annotated[str, Meta(description="The file, relative to the folder.", min_length=1)]
    old_string: Annotated[str, Meta(description="The text to replace.", min_length=1)]
    new_string: Annotated[str, Meta(description="The text to put there.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


def plan(folder: Folder, path: str, asked: EditArguments) -> PlannedChange:
    """Return the change that the call would make.

    Raises:
        Refusal: `tool_arguments` or `tool_failed`.
        PathDenied, OSError: The file cannot be opened.
    """
    if asked.old_string == asked.new_string:
        raise _wrong("new_string", "is the same as old_string, so nothing would change")
    before = read_existing(folder, path)
    if before is None:
        raise Refusal("tool_failed", f"There is no file {path}. Use `write` to make one.", field="file_path")
    found = decode(before)
    if found is None:
        raise Refusal(
            "tool_failed", f"{path} is {describe_kind(before)}, {format_size(len(before))}: `edit` changes text only."
        )
    old, new = asked.old_string, asked.new_string
    count = found.text.count(old)
    if count == 0 and "\n" in old and "\r\n" in found.text:
        old, new = _with_crlf(old), _with_crlf(new)
        count = found.text.count(old)
    elif "\n" in new and "\n" not in old and _is_crlf(found.text):
        new = _with_crlf(new)
    if count == 0:
        raise _wrong("old_string", f"is not in {path}. Read the file and copy the text exactly")
    if count > 1 and not asked.replace_all:
        raise _wrong("old_string", f"is in {path} {count} times. Add lines around it, or set replace_all")
    try:
        after = found.encode(found.text.replace(old, new))
    except UnicodeEncodeError as error:
        raise _wrong("new_string", f"has characters that {path} cannot hold: it is {found.encoding}") from error
    if len(after) > LARGEST_FILE:
        raise _wrong("new_string", f"makes the file larger than {LARGEST_FILE:,} bytes")
    return PlannedChange(path, before, after)


def _is_crlf(text: str) -> bool:
    return text.count("\r\n") == text.count("\n") > 0


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _wrong(field: str, what: str) -> Refusal:
    return Refusal("tool_arguments", f"{field}: {what}.", field=field)
