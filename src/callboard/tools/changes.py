"""A change to one file: what it was, what it becomes, and how a person and the log see that."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from callboard.contracts.content import Blob, blob_of, fit
from callboard.contracts.facts.tool import FileChange

from .texts import decode, kind_of, size_of

_CONTEXT = 3
#: Beyond this many pairs of lines a line by line comparison takes longer than a person waits.
_MOST_PAIRS = 4_000_000


class Plan(NamedTuple):
    """A change that is not made yet. `before` is None where there is no file."""

    path: str
    before: bytes | None
    after: bytes


class Diff(NamedTuple):
    """A unified diff with the number of lines it adds and removes."""

    text: str
    added: int
    removed: int


def diff(plan: Plan) -> Diff:
    """The change as a unified diff; what is no text is named instead."""
    old_name = "/dev/null" if plan.before is None else f"a/{plan.path}"
    header = f"--- {old_name}\n+++ b/{plan.path}\n"
    old, new = _lines(plan.before or b""), _lines(plan.after)
    if old is None or new is None:
        was = f"{kind_of(plan.before)}, {size_of(len(plan.before))}" if plan.before is not None else "nothing"
        becomes = "text" if new is not None else kind_of(plan.after)
        return Diff(f"{header}The file was {was}; it becomes {becomes}, {size_of(len(plan.after))}.\n", 0, 0)
    body, added, removed = _hunks(old, new)
    return Diff(header + body, added, removed)


def told(plan: Plan) -> tuple[FileChange, tuple[Blob, ...]]:
    """The change as a fact has it, with the blobs that hold the contents and a long diff."""
    found = diff(plan)
    text, blobs = fit(found.text)
    before = None if plan.before is None else blob_of(plan.before, _media(plan.before))
    after = blob_of(plan.after, _media(plan.after))
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


def _media(data: bytes) -> str:
    found = decode(data)
    if found is None:
        return "application/octet-stream"
    return f"text/plain; charset={found.encoding}"


def _lines(data: bytes) -> list[str] | None:
    found = decode(data)
    return None if found is None else _split(found.text)


def _split(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends a line, as for every tool that reads diffs."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _hunks(old: list[str], new: list[str]) -> tuple[str, int, int]:
    start = _same_from(old, new)
    end = _same_from(old[start:][::-1], new[start:][::-1])
    skipped = max(0, start - _CONTEXT)
    kept = max(0, end - _CONTEXT)
    old, new = old[skipped : len(old) - kept], new[skipped : len(new) - kept]
    lead, tail = start - skipped, end - kept
    if (len(old) - lead - tail) * (len(new) - lead - tail) > _MOST_PAIRS:
        groups = [_wholesale(len(old), len(new), lead, tail)]
    else:
        groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT))
    added = removed = 0
    out: list[str] = []
    for group in groups:
        first, last = group[0], group[-1]
        out.append(f"@@ -{_span(first[1], last[2], skipped)} +{_span(first[3], last[4], skipped)} @@\n")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += [_line(" ", line) for line in old[i1:i2]]
                continue
            out += [_line("-", line) for line in old[i1:i2]]
            out += [_line("+", line) for line in new[j1:j2]]
            removed, added = removed + i2 - i1, added + j2 - j1
    return "".join(out), added, removed


def _wholesale(old: int, new: int, lead: int, tail: int) -> list[tuple[str, int, int, int, int]]:
    return [
        ("equal", 0, lead, 0, lead),
        ("replace", lead, old - tail, lead, new - tail),
        ("equal", old - tail, old, new - tail, new),
    ]


def _same_from(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _span(first: int, last: int, skipped: int) -> str:
    size = last - first
    # An empty span stands after the line before it.
    at = first + skipped + (1 if size else 0)
    return f"{at}" if size == 1 else f"{at},{size}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
