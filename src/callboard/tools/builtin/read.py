"""Read: numbered lines of a text file, or an image."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.content import blob_of
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import ToolOutcome

from ..files.handles import Folder
from ..files.images import read_image, read_image_header
from ..files.text_encoding import DecodedText, decode, describe_kind, format_size

NAME = "Read"
DESCRIPTION = """Read a text file, or show an image (PNG, JPEG, GIF, WebP). Each line starts with its number and a tab, which
are not part of the file. Without a limit the first 2000 lines are read; continue with offset. List folders with `glob`."""

LARGEST_FILE = 32 * 1024 * 1024
#: A model receives a whole page.
LARGEST_OUTPUT = 60 * 1024
#: Maximum size of an image, in bytes.
LARGEST_IMAGE = 5 * 1024 * 1024
MOST_LINES = 2000
LONGEST_LINE = 2000


class ReadArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Read."""

    file_path: Annotated[str, Meta(description="The file, relative to the folder.", min_length=1)]
    offset: Annotated[int, Meta(description="The first line to read, counted from 1.", ge=0)] = 1
    limit: Annotated[int, Meta(description="How many lines to read.", ge=1)] = MOST_LINES


def read_lines(folder: Folder, path: str, asked: ReadArguments) -> str:
    """Return the requested lines with numbers, and a note on what was left out.

    Raises:
        Refusal: `tool_failed`.
        PathDenied, OSError: The file cannot be opened.
    """
    found, empty = _text(folder, path)
    if empty:
        return f"[{path} is empty.]"
    lines = found.text.split("\n")
    if not lines[-1]:
        lines.pop()
    return _numbered(path, lines, asked, found.encoding)


def read_or_show(folder: Folder, path: str, asked: ReadArguments) -> ToolOutcome:
    """Return the lines of a file, or an image with its kind and size. Raises as `read`."""
    try:
        return ToolOutcome(output=read_lines(folder, path, asked))
    except Refusal:
        data = folder.read(path, LARGEST_IMAGE) or b""
        large = len(data) > LARGEST_IMAGE
        shown = read_image_header(data) if large else read_image(data)
        if shown is None:
            raise
        if large:
            most = f"{LARGEST_IMAGE // 1024 // 1024} MB"
            return ToolOutcome(output=f"{path} is {shown.description}, of more than {most}: too large to be shown.")
    blob = blob_of(data, shown.media)
    return ToolOutcome(
        output=f"{path} is {shown.description}, {format_size(len(data))}.", blobs=(blob,), images=(blob.ref,)
    )


def read_whole(folder: Folder, path: str) -> str:
    """Return the whole text. Raises as `read`."""
    return _text(folder, path)[0].text


def _text(folder: Folder, path: str) -> tuple[DecodedText, bool]:
    """Return the file's text, and whether it is empty."""
    data = folder.read(path, LARGEST_FILE)
    if data is None:
        raise Refusal("tool_failed", f"There is no file {path}. `glob` and `grep` find files.", field="file_path")
    if len(data) > LARGEST_FILE:
        most = f"{LARGEST_FILE // 1024 // 1024} MB"
        raise Refusal(
            "tool_failed", f"{path} is larger than {most}, the most that `read` opens. Search it with `grep`."
        )
    found = decode(data)
    if found is None:
        what = f"{path} is {describe_kind(data)}, {format_size(len(data))}"
        raise Refusal("tool_failed", f"{what}: not text, so there are no lines to read.")
    return found, not data


def _numbered(path: str, lines: list[str], asked: ReadArguments, encoding: str) -> str:
    first = max(asked.offset, 1)
    if first > len(lines):
        raise Refusal("tool_failed", f"{path} has {len(lines)} lines; there is no line {first}.", field="offset")
    out: list[str] = []
    size, cut = 0, False
    for number, line in enumerate(lines[first - 1 : first - 1 + asked.limit], first):
        text = line.removesuffix("\r")
        if len(text) > LONGEST_LINE:
            text, cut = f"{text[:LONGEST_LINE]}… [{len(text) - LONGEST_LINE:,} more characters]", True
        size += len(text.encode("utf-8", "replace")) + 8
        if out and size > LARGEST_OUTPUT:
            break
        out.append(f"{number:>6}\t{text}")
    last = first + len(out) - 1
    notes: list[str] = []
    if last < len(lines):
        notes.append(f"lines {first} to {last} of {len(lines)}; read on with offset {last + 1}")
    if cut:
        notes.append(f"lines of more than {LONGEST_LINE} characters are cut")
    if encoding != "utf-8":
        notes.append(f"the file is {encoding}")
    return "\n".join(out) + (f"\n\n[{'; '.join(notes)}]" if notes else "")
