"""A change to one file: what it was, what it becomes, and how a person and the log see that."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from callboard.contracts.content import Blob, blob_of, fit
from callboard.contracts.facts.tool import FileChange

from .texts import decode, kind_of, size_of

_CONTEXT = 3
#: Beyond this many pairs of lines a line by line comparison takes longer than a person waits.
_MOST_PAIRS = 4_000_000


class PlannedChange(NamedTuple):
    """A change that is not made yet. `before` is None where there is no file."""

    path: str
    before: bytes | None
    after: bytes


class Diff(NamedTuple):
    """A unified diff with the number of lines it adds and removes."""

    text: str
    added: int
    removed: int


class _Code(NamedTuple):
    same: bool
    i1: int
    i2: int
    j1: int
    j2: int


def diff(plan: PlannedChange) -> Diff:
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


def told(plan: PlannedChange) -> tuple[FileChange, tuple[Blob, ...]]:
    """The change as a fact has it, with the blobs that hold the contents and a long diff."""
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
    """The media type of a file's bytes: text with its encoding, or bytes."""
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
    added = removed = 0
    out: list[str] = []
    for group in _groups(_opcodes(old, new)):
        first, last = group[0], group[-1]
        out.append(f"@@ -{_span(first.i1, last.i2)} +{_span(first.j1, last.j2)} @@\n")
        for code in group:
            if code.same:
                out += [_line(" ", line) for line in old[code.i1 : code.i2]]
                continue
            out += [_line("-", line) for line in old[code.i1 : code.i2]]
            out += [_line("+", line) for line in new[code.j1 : code.j2]]
            removed, added = removed + code.i2 - code.i1, added + code.j2 - code.j1
    return "".join(out), added, removed


def _opcodes(old: list[str], new: list[str]) -> list[_Code]:
    """The lines i1 to i2 of the old text against j1 to j2 of the new one, all of both texts in order.

    What is the same at both ends is not compared again: mostly it is nearly everything.
    """
    start = _same_from(old, new)
    end = _same_from(old[start:][::-1], new[start:][::-1])
    i2, j2 = len(old) - end, len(new) - end
    codes = [_Code(True, 0, start, 0, start)]
    if (i2 - start) * (j2 - start) > _MOST_PAIRS:
        codes.append(_Code(False, start, i2, start, j2))
    else:
        found = difflib.SequenceMatcher(None, old[start:i2], new[start:j2], autojunk=False).get_opcodes()
        codes += [_Code(tag == "equal", *(at + start for at in place)) for tag, *place in found]
    codes.append(_Code(True, i2, len(old), j2, len(new)))
    return [code for code in codes if code.i1 < code.i2 or code.j1 < code.j2]


def _groups(codes: list[_Code]) -> Iterator[list[_Code]]:
    """The changes with the lines around them; those whose surroundings touch are one group."""
    group: list[_Code] = []
    for at, code in enumerate(codes):
        if not code.same:
            group.append(code)
            continue
        before = min(_CONTEXT, code.i2 - code.i1) if at + 1 < len(codes) else 0
        after = min(_CONTEXT, code.i2 - code.i1) if group else 0
        if group and before and code.i2 - code.i1 <= before + after:
            group.append(code)
            continue
        if group:
            yield [*group, _Code(True, code.i1, code.i1 + after, code.j1, code.j1 + after)]
        group = [_Code(True, code.i2 - before, code.i2, code.j2 - before, code.j2)] if before else []
    if any(not code.same for code in group):
        yield group


def _same_from(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _span(first: int, last: int) -> str:
    size = last - first
    # An empty span stands after the line before it.
    at = first + (1 if size else 0)
    return f"{at}" if size == 1 else f"{at},{size}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
