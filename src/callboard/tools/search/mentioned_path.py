"""Content of paths that a person mentions, under the rules for Read."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from callboard.contracts.ports.tools import MissingPath, PathContent, ToolContext

from ..files.handles import Folder, list_entries
from ..files.images import read_image, read_image_header
from ..files.paths import PathDenied, display, to_relative_path
from ..files.text_encoding import decode, describe_kind, format_size
from ..gate import rules
from .file_search import Search
from .search_process import run_search

#: Maximum size of a text and of an image, in bytes. For other files only kind and size are returned.
MAX_TEXT_BYTES = 1024 * 1024
MAX_IMAGE_BYTES = 5 * 1024 * 1024
#: Maximum number of listed entries.
MAX_ENTRIES = 200
#: Maximum number of names to rank, and seconds to search.
MAX_NAMES = 5000
SECONDS = 3.0
_SAMPLE = 64 * 1024


def read_mentioned(context: ToolContext, hidden: Sequence[str], path: str) -> PathContent | MissingPath:
    """Return the content of the path, or the reason why it is missing."""
    try:
        relative_path = to_relative_path(context.folder, path)
        denied_by_rule = _check_rules(context, relative_path)
        if denied_by_rule is not None:
            return denied_by_rule
        if "/" not in relative_path and not os.path.lexists(f"{context.folder}/{relative_path}"):
            # Each run looks for instructions that most folders do not have.
            return MissingPath(reason="not_found")
        with Folder(context.folder, hidden) as folder:
            return _read_content(folder, context, relative_path)
    except PathDenied as denied:
        return MissingPath(reason="outside_folder", detail=denied.message)
    except OSError as error:
        return MissingPath(reason="unreadable", detail=f"{error.strerror or error}.")


async def find_names(context: ToolContext, hidden: Sequence[str], text: str, limit: int) -> tuple[str, ...]:
    """Return paths that contain this text in any case: matches in the file name first, then the shortest."""
    excluded = rules.list_unsearchable(context.rules, "Grep")
    response = await run_search(
        context.folder, hidden, Search("Name", text, "", limit=MAX_NAMES, excluded=excluded), SECONDS
    )
    folded = text.casefold()

    def order(path: str) -> tuple[bool, int, str]:
        return folded not in path.rpartition("/")[2].casefold(), len(path), path

    return tuple(sorted(response.lines, key=order)[:limit])


def _read_content(folder: Folder, context: ToolContext, path: str) -> PathContent | MissingPath:
    status = folder.read_status(path)
    if status is None:
        return MissingPath(reason="not_found")
    if stat.S_ISDIR(status.st_mode):
        return _list_folder(folder, context, path)
    data = folder.read(path, MAX_IMAGE_BYTES if status.st_size <= MAX_IMAGE_BYTES else _SAMPLE)
    if data is None:
        return MissingPath(reason="not_found")
    size = max(status.st_size, len(data))
    image = read_image(data) if size <= MAX_IMAGE_BYTES else read_image_header(data)
    if image is not None:
        if size > MAX_IMAGE_BYTES:
            return MissingPath(reason="too_large", detail=f"{image.description}, {format_size(size)}")
        return PathContent(
            path=path,
            kind="image",
            data=data,
            media=image.media,
            description=f"{image.description}, {format_size(size)}",
        )
    text = decode(data)
    if text is None:
        return PathContent(path=path, kind="binary", description=f"{describe_kind(data)}, {format_size(size)}")
    if size > MAX_TEXT_BYTES:
        return MissingPath(reason="too_large", detail=f"{format_size(size)}; use `read` with offset and limit")
    return PathContent(path=path, kind="text", data=text.text.encode("utf-8", "replace"), description=format_size(size))


def _list_folder(folder: Folder, context: ToolContext, path: str) -> PathContent:
    with folder.open_directory(path) as handle:
        entries = [
            f"{name}/" if stat.S_ISDIR(status.st_mode) else name
            for name, status in list_entries(handle)
            if name != ".git" and _check_rules(context, f"{path}/{name}" if path else name) is None
        ]
    lines = [display(name, 255) for name in entries[:MAX_ENTRIES]]
    if len(entries) > MAX_ENTRIES:
        lines.append(f"[{len(entries) - MAX_ENTRIES:,} more]")
    return PathContent(
        path=path, kind="folder", data="\n".join(lines).encode(), description=f"{len(entries):,} entries"
    )


def _check_rules(context: ToolContext, path: str) -> MissingPath | None:
    """Return the rule that prevents reading. A rule that asks also does, because a mention never asks."""
    rule = rules.find_rule(context.rules, rules.Target(tool="Read", path=path))
    if rule is None or rule.verdict == "allow":
        return None
    effect = "denies it" if rule.verdict == "deny" else "asks first"
    return MissingPath(reason="denied", detail=f"a rule of this {rule.scope} {effect}: {display(rule.matcher)}")
