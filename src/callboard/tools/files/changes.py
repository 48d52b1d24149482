"""A planned change of a file, its diff and its fact."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from callboard.contracts.content import Blob, blob_of, fit
from callboard.contracts.facts.tool import FileChange

from .text_encoding import decode, describe_kind, format_size

_CONTEXT = 3
#: Above this number of line pairs, a line-by-line comparison takes too long.
_MOST_PAIRS = 4_000_000


class PlannedChange(NamedTuple):
    """A change before it is made. `before` is None for a new file."""

    path: str
    before: bytes | None
    after: bytes


class Diff(NamedTuple):
    """A unified diff with the number of lines it adds and removes."""

    text: str
    added: int
    removed: int


def diff(plan: PlannedChange) -> Diff:
    """Return the change as a unified diff. Binary content is described instead."""
    old_name = "/dev/null" if plan.before is None else f"a/{plan.path}"
    header = f"--- {old_name}\n+++ b/{plan.path}\n"
    old, new = _lines(plan.before or b""), _lines(plan.after)
    if old is None or new is None:
        was = f"{describe_kind(plan.before)}, {format_size(len(plan.before))}" if plan.before is not None else "nothing"
        becomes = "text" if new is not None else describe_kind(plan.after)
        return Diff(f"{header}The file was {was}; it becomes {becomes}, {format_size(len(plan.after))}.\n", 0, 0)
    body, added, removed = _hunks(old, new)
    return Diff(header + body, added, removed)


def to_fact(plan: PlannedChange) -> tuple[FileChange, tuple[Blob, ...]]:
    """Return the change as a fact, with the blobs of its contents and of a long diff."""
    found = diff(plan)
    text, blobs = fit(found.text)
    before = None if plan.before is None else blob_of(plan.before, media_of(plan.before))
    after = blob_of(plan.after, media_of(plan.after))
    change = FileChange(
        path=plan.path,
        kind="created" if before is None else "modified",
        added=found.added,
        removed=found.removed,
        diff=text,
        before=None if before is None else before.ref,
        after=after.ref,
    )
    return change, (*blobs, *(() if before is None else (before,)), after)


def media_of(data: bytes) -> str:
    """Return the media type of a file: text with its encoding, or binary."""
    found = decode(data)
    if found is None:
        return "application/octet-stream"
    return f"text/plain; charset={found.encoding}"


def _lines(data: bytes) -> list[str] | None:
    found = decode(data)
    return None if found is None else _split(found.text)


def _split(text: str) -> list[str]:
    """Return the lines with their ends. Only a line feed ends a line, as in tools that read diffs."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _hunks(old: list[str], new: list[str]) -> tuple[str, int, int]:
    """The hunks, and how many lines they add and remove. Equal lines at both ends, mostly nearly all, are not compared."""
    start = _same_from(old, new)
    end = _same_from(old[start:][::-1], new[start:][::-1])
    was, now = old[start : len(old) - end], new[start : len(new) - end]
    if not was and not now:
        return "", 0, 0
    groups = [[("replace", 0, len(was), 0, len(now))]]
    if len(was) * len(now) <= _MOST_PAIRS:
        groups = list(difflib.SequenceMatcher(None, was, now, autojunk=False).get_grouped_opcodes(_CONTEXT))
    before, after = min(_CONTEXT, start), min(_CONTEXT, end)
    groups[0].insert(0, ("equal", -before, 0, -before, 0))
    groups[-1].append(("equal", len(was), len(was) + after, len(now), len(now) + after))
    added = removed = 0
    out: list[str] = []
    for group in groups:
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        out.append(f"@@ -{_span(start + i1, start + i2)} +{_span(start + j1, start + j2)} @@\n")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += [_line(" ", line) for line in old[start + i1 : start + i2]]
                continue
            out += [_line("-", line) for line in was[i1:i2]]
            out += [_line("+", line) for line in now[j1:j2]]
            removed, added = removed + i2 - i1, added + j2 - j1
    return "".join(out), added, removed


def _same_from(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _span(first: int, last: int) -> str:
    size = last - first
    # An empty span is placed after the line before it.
    at = first + (1 if size else 0)
    return f"{at}" if size == 1 else f"{at},{size}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
