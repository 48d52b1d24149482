"""Planned changes of files, with their diffs and facts."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from callboard.contracts.content import Blob, fit_text, make_blob
from callboard.contracts.facts.tool import FileChange

from .text_encoding import decode, describe_kind, format_size

_CONTEXT = 3
#: Maximum number of line pairs that are compared line by line. More would take too long.
_MAX_PAIRS = 4_000_000


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
    """Return a unified diff, or a description of binary content."""
    old_name = "/dev/null" if plan.before is None else f"a/{plan.path}"
    header = f"--- {old_name}\n+++ b/{plan.path}\n"
    old, new = _read_lines(plan.before or b""), _read_lines(plan.after)
    if old is None or new is None:
        former = (
            f"{describe_kind(plan.before)}, {format_size(len(plan.before))}" if plan.before is not None else "nothing"
        )
        kind = "text" if new is not None else describe_kind(plan.after)
        return Diff(f"{header}The file was {former}; it becomes {kind}, {format_size(len(plan.after))}.\n", 0, 0)
    body, added, removed = _format_hunks(old, new)
    return Diff(header + body, added, removed)


def to_fact(plan: PlannedChange) -> tuple[FileChange, tuple[Blob, ...]]:
    """Return the change as a fact, with the blobs of its contents and of a long diff."""
    unified = diff(plan)
    text, blobs = fit_text(unified.text)
    before = None if plan.before is None else make_blob(plan.before, detect_text_media(plan.before))
    after = make_blob(plan.after, detect_text_media(plan.after))
    change = FileChange(
        path=plan.path,
        kind="created" if before is None else "modified",
        added=unified.added,
        removed=unified.removed,
        diff=text,
        before=None if before is None else before.ref,
        after=after.ref,
    )
    return change, (*blobs, *(() if before is None else (before,)), after)


def detect_text_media(data: bytes) -> str:
    """Return the media type: text with its encoding, or binary."""
    decoded = decode(data)
    if decoded is None:
        return "application/octet-stream"
    return f"text/plain; charset={decoded.encoding}"


def _read_lines(data: bytes) -> list[str] | None:
    decoded = decode(data)
    return None if decoded is None else _split_lines(decoded.text)


def _split_lines(text: str) -> list[str]:
    """Return the lines with their ends. As in diff tools, only a line feed ends a line."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _format_hunks(old: list[str], new: list[str]) -> tuple[str, int, int]:
    """Return the hunks and the number of added and removed lines. Skips equal lines at both ends."""
    start = _count_equal(old, new)
    end = _count_equal(old[start:][::-1], new[start:][::-1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if not old_middle and not new_middle:
        return "", 0, 0
    groups = [[("replace", 0, len(old_middle), 0, len(new_middle))]]
    if len(old_middle) * len(new_middle) <= _MAX_PAIRS:
        groups = list(
            difflib.SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_grouped_opcodes(_CONTEXT)
        )
    before, after = min(_CONTEXT, start), min(_CONTEXT, end)
    groups[0].insert(0, ("equal", -before, 0, -before, 0))
    groups[-1].append(("equal", len(old_middle), len(old_middle) + after, len(new_middle), len(new_middle) + after))
    added = removed = 0
    text: list[str] = []
    for group in groups:
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        text.append(f"@@ -{_format_span(start + i1, start + i2)} +{_format_span(start + j1, start + j2)} @@\n")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                text += [_format_line(" ", line) for line in old[start + i1 : start + i2]]
                continue
            text += [_format_line("-", line) for line in old_middle[i1:i2]]
            text += [_format_line("+", line) for line in new_middle[j1:j2]]
            removed, added = removed + i2 - i1, added + j2 - j1
    return "".join(text), added, removed


def _count_equal(before: list[str], after: list[str]) -> int:
    count = 0
    for left, right in zip(before, after, strict=False):
        if left != right:
            break
        count += 1
    return count


def _format_span(first: int, last: int) -> str:
    size = last - first
    # An empty span is placed after the line before it.
    at = first + (1 if size else 0)
    return f"{at}" if size == 1 else f"{at},{size}"


def _format_line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
