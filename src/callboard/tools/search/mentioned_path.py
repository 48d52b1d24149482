"""Content of paths that a person mentions, under the rules of Read."""

from __future__ import annotations

import stat
from collections.abc import Sequence

from callboard.contracts.ports.tools import MissingPath, PathContent, ToolContext

from ..files.handles import Folder, list_entries
from ..files.images import read_image, read_image_header
from ..files.paths import PathDenied, display, relative
from ..files.text_encoding import decode, describe_kind, format_size
from ..gate import rules
from .file_search import Search
from .search_process import run_search

#: Maximum size of a whole text and of an image, in bytes. Other files show only kind and size.
LARGEST_TEXT = 1024 * 1024
LARGEST_IMAGE = 5 * 1024 * 1024
#: Maximum number of listed entries.
MOST_ENTRIES = 200
#: Maximum number of names to rank, and seconds to search.
MOST_NAMES = 5000
SECONDS = 3.0
_SAMPLE = 64 * 1024


def read_mentioned(context: ToolContext, hidden: Sequence[str], path: str) -> PathContent | MissingPath:
    """Return the content, or why it is missing."""
    try:
        found = relative(context.folder, path)
        refused = _ruled_out(context, found)
        if refused is not None:
            return refused
        with Folder(context.folder, hidden) as folder:
            return _look(folder, context, found)
    except PathDenied as denied:
        return MissingPath(reason="outside_folder", detail=denied.message)
    except OSError as error:
        return MissingPath(reason="unreadable", detail=f"{error.strerror or error}.")


async def find_names(context: ToolContext, hidden: Sequence[str], text: str, limit: int) -> tuple[str, ...]:
    """Return paths of files that contain this text in any case: those with it in the file name
    first, then the shortest.
    """
    kept = rules.list_unsearchable(context.rules, "Grep")
    found = await run_search(context.folder, hidden, Search("Name", text, "", limit=MOST_NAMES, excluded=kept), SECONDS)
    wanted = text.casefold()

    def order(path: str) -> tuple[bool, int, str]:
        return wanted not in path.rpartition("/")[2].casefold(), len(path), path

    return tuple(sorted(found.lines, key=order)[:limit])


def _look(folder: Folder, context: ToolContext, path: str) -> PathContent | MissingPath:
    there = folder.read_status(path)
    if there is None:
        return MissingPath(reason="not_found")
    if stat.S_ISDIR(there.st_mode):
        return _entries(folder, context, path)
    data = folder.read(path, LARGEST_IMAGE if there.st_size <= LARGEST_IMAGE else _SAMPLE)
    if data is None:
        return MissingPath(reason="not_found")
    size = max(there.st_size, len(data))
    shown = read_image(data) if size <= LARGEST_IMAGE else read_image_header(data)
    if shown is not None:
        if size > LARGEST_IMAGE:
            return MissingPath(reason="too_large", detail=f"{shown.description}, {format_size(size)}")
        return PathContent(
            path=path,
            kind="image",
            data=data,
            media=shown.media,
            description=f"{shown.description}, {format_size(size)}",
        )
    text = decode(data)
    if text is None:
        return PathContent(path=path, kind="binary", description=f"{describe_kind(data)}, {format_size(size)}")
    if size > LARGEST_TEXT:
        return MissingPath(reason="too_large", detail=f"{format_size(size)}; `read` opens it in parts")
    return PathContent(path=path, kind="text", data=text.text.encode("utf-8", "replace"), description=format_size(size))


def _entries(folder: Folder, context: ToolContext, path: str) -> PathContent:
    with folder.open_directory(path) as handle:
        found = [
            f"{name}/" if stat.S_ISDIR(status.st_mode) else name
            for name, status in list_entries(handle)
            if name != ".git" and _ruled_out(context, f"{path}/{name}" if path else name) is None
        ]
    lines = [display(name, 255) for name in found[:MOST_ENTRIES]]
    if len(found) > MOST_ENTRIES:
        lines.append(f"[{len(found) - MOST_ENTRIES:,} more]")
    return PathContent(path=path, kind="folder", data="\n".join(lines).encode(), description=f"{len(found):,} entries")


def _ruled_out(context: ToolContext, path: str) -> MissingPath | None:
    """Return why a rule prevents reading. A rule that asks prevents it too, because a mention never asks."""
    rule = rules.find_rule(context.rules, rules.Target(tool="Read", path=path))
    if rule is None or rule.verdict == "allow":
        return None
    says = "forbids it" if rule.verdict == "deny" else "asks first"
    return MissingPath(reason="denied", detail=f"a rule of this {rule.scope} {says}: {display(rule.matcher)}")
