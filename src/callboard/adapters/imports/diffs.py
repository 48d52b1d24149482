"""What a past edit did to a file, as far as its transcript tells."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Literal

from callboard.contracts.commands.imports import ImportedChange

_PATCH_FILES = {"*** Add File: ": "created", "*** Update File: ": "modified", "*** Delete File: ": "deleted"}


def replacement_change(folder: str, path: Any, before: Any, after: Any) -> ImportedChange | None:
    """One text that took another's place; without a former one the file was written whole."""
    if not isinstance(path, str) or not path or not isinstance(after, str):
        return None
    former = before if isinstance(before, str) else ""
    name = relative_path(folder, path)
    found = list(
        difflib.unified_diff(former.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=3)
    )
    return _change(name, "modified" if former else "created", found)


def patch_changes(folder: str, patch: Any) -> Iterator[ImportedChange]:
    """The files of a patch in the format of `apply_patch`."""
    if not isinstance(patch, str):
        return
    name, kind, body = "", "modified", list[str]()
    for line in patch.splitlines():
        head = next((mark for mark in _PATCH_FILES if line.startswith(mark)), None)
        if head is None and not line.startswith("*** End Patch"):
            body.append(line)
            continue
        if name:
            yield _change(name, kind, body)
        name, body = "", []
        if head is not None:
            name, kind = relative_path(folder, line.removeprefix(head)), _PATCH_FILES[head]
    if name:
        yield _change(name, kind, body)


def relative_path(folder: str, path: str) -> str:
    """The path within the folder where it is in it, else as it is."""
    try:
        return str(PurePosixPath(path).relative_to(folder))
    except ValueError:
        return path


def _change(name: str, kind: str, body: list[str]) -> ImportedChange:
    added = sum(line.startswith("+") and not line.startswith("+++") for line in body)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in body)
    of: Literal["created", "modified", "deleted"] = (
        "created" if kind == "created" else "deleted" if kind == "deleted" else "modified"
    )
    return ImportedChange(path=name, kind=of, diff="\n".join(body), added=added, removed=removed)
