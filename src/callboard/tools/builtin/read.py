"""The tool Read: numbered lines of a text file, or an image."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.content import make_blob
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import ToolOutcome

from ..files.handles import Folder
from ..files.images import read_image, read_image_header
from ..files.text_encoding import DecodedText, decode, describe_kind, format_size

NAME = "Read"
DESCRIPTION = """Read a text file, or view an image (PNG, JPEG, GIF, WebP). Each line starts with its number and a tab, which
are not part of the file. Reads up to 2000 lines; continue with offset. To list a folder use `glob`."""

MAX_FILE_BYTES = 32 * 1024 * 1024
#: Maximum size of a page, in bytes. Models receive it whole.
MAX_OUTPUT_BYTES = 60 * 1024
#: Maximum size of an image, in bytes.
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_LINES = 2000
MAX_LINE_CHARS = 2000


class ReadArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Read."""

    file_path: Annotated[str, Meta(description="File, relative to the folder.", min_length=1)]
    offset: Annotated[int, Meta(description="First line to read, from 1.", ge=0)] = 1
    limit: Annotated[int, Meta(description="Maximum number of lines.", ge=1)] = MAX_LINES


def read_lines(folder: Folder, path: str, arguments: ReadArguments) -> str:
    """Return the requested lines with numbers and a note on omissions. Raises Refusal, PathDenied, OSError."""
    content, is_empty = _read_text(folder, path)
    if is_empty:
        return f"[{path} is empty.]"
    lines = content.text.split("\n")
    if not lines[-1]:
        lines.pop()
    return _number_lines(path, lines, arguments, content.encoding)


def read_or_show(folder: Folder, path: str, arguments: ReadArguments) -> ToolOutcome:
    """Return the lines of a file, or an image with its type and size. Raises as `read_lines`."""
    try:
        return ToolOutcome(output=read_lines(folder, path, arguments))
    except Refusal:
        data = folder.read(path, MAX_IMAGE_BYTES) or b""
        is_large = len(data) > MAX_IMAGE_BYTES
        image = read_image_header(data) if is_large else read_image(data)
        if image is None:
            raise
        if is_large:
            most = f"{MAX_IMAGE_BYTES // 1024 // 1024} MB"
            return ToolOutcome(output=f"{path} is {image.description}, of more than {most}: too large to show.")
    blob = make_blob(data, image.media)
    return ToolOutcome(
        output=f"{path} is {image.description}, {format_size(len(data))}.", blobs=(blob,), images=(blob.ref,)
    )


def read_whole(folder: Folder, path: str) -> str:
    """Return the whole text. Raises as `read_lines`."""
    return _read_text(folder, path)[0].text


def _read_text(folder: Folder, path: str) -> tuple[DecodedText, bool]:
    """Return the text of the file, and whether the file is empty."""
    data = folder.read(path, MAX_FILE_BYTES)
    if data is None:
        raise Refusal(
            "tool_failed", f"There is no file {path}.", field="file_path", hint="Find files with `glob` or `grep`."
        )
    if len(data) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES // 1024 // 1024} MB"
        raise Refusal(
            "tool_failed", f"{path} is larger than {limit}, the limit of `read`.", hint="Use `bash` to read a part."
        )
    decoded = decode(data)
    if decoded is None:
        raise Refusal(
            "tool_failed",
            f"{path} is {describe_kind(data)}, {format_size(len(data))}: `read` opens only text.",
            hint="Use `bash` with a program for this format.",
        )
    return decoded, not data


def _number_lines(path: str, lines: list[str], arguments: ReadArguments, encoding: str) -> str:
    first = max(arguments.offset, 1)
    if first > len(lines):
        raise Refusal(
            "tool_failed",
            f"{path} has {len(lines)} lines. The offset is {first}.",
            field="offset",
            hint=f"Use an offset from 1 to {len(lines)}.",
        )
    numbered: list[str] = []
    size, has_cut_lines = 0, False
    for number, line in enumerate(lines[first - 1 : first - 1 + arguments.limit], first):
        text = line.removesuffix("\r")
        if len(text) > MAX_LINE_CHARS:
            text, has_cut_lines = f"{text[:MAX_LINE_CHARS]}… [{len(text) - MAX_LINE_CHARS:,} more characters]", True
        size += len(text.encode("utf-8", "replace")) + 8
        if numbered and size > MAX_OUTPUT_BYTES:
            break
        numbered.append(f"{number:>6}\t{text}")
    last = first + len(numbered) - 1
    notes: list[str] = []
    if last < len(lines):
        notes.append(f"lines {first} to {last} of {len(lines)}; continue with offset {last + 1}")
    if has_cut_lines:
        notes.append(f"lines above {MAX_LINE_CHARS} characters are truncated")
    if encoding != "utf-8":
        notes.append(f"the encoding is {encoding}")
    return "\n".join(numbered) + (f"\n\n[{'; '.join(notes)}]" if notes else "")
