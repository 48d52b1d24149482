"""File changes of past edits, as far as their transcripts record them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Literal

from callboard.contracts.commands.session_import import ImportedChange

_PATCH_FILES = {"*** Add File: ": "created", "*** Update File: ": "modified", "*** Delete File: ": "deleted"}


def build_replacement_change(folder: str, path: Any, before: Any, after: Any) -> ImportedChange | None:
    """Return the change of a replaced text; None for invalid input. Without `before` the file was written as a whole."""
    if not isinstance(path, str) or not path or not isinstance(after, str):
        return None
    old = before if isinstance(before, str) else ""
    name = to_relative_path(folder, path)
    diff = list(difflib.unified_diff(old.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=3))
    return _build_change(name, "modified" if old else "created", diff)


def parse_patch_changes(folder: str, patch: Any) -> Iterator[ImportedChange]:
    """Yield the changes of a patch in the format of `apply_patch`."""
    if not isinstance(patch, str):
        return
    name, kind, body = "", "modified", list[str]()
    for line in patch.splitlines():
        head = next((mark for mark in _PATCH_FILES if line.startswith(mark)), None)
        if head is None and not line.startswith("*** End Patch"):
            body.append(line)
            continue
        if name:
            yield _build_change(name, kind, body)
        name, body = "", []
        if head is not None:
            name, kind = to_relative_path(folder, line.removeprefix(head)), _PATCH_FILES[head]
    if name:
        yield _build_change(name, kind, body)


def to_relative_path(folder: str, path: str) -> str:
    """Return the path relative to the folder if it is inside, else unchanged."""
    try:
        return str(PurePosixPath(path).relative_to(folder))
    except ValueError:
        return path


def _build_change(name: str, kind: str, body: list[str]) -> ImportedChange:
    added = sum(line.startswith("+") and not line.startswith("+++") for line in body)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in body)
    change: Literal["created", "modified", "deleted"] = (
        "created" if kind == "created" else "deleted" if kind == "deleted" else "modified"
    )
    return ImportedChange(path=name, kind=change, diff="\n".join(body), added=added, removed=removed)
