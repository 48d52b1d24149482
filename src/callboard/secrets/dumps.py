"""Hex and octal dumps in a text (`xxd`, `od`, `hexdump`, C arrays), decoded into their bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .repeats import match_all

#: Line number that a listing puts before a row.
_NUMBER = r"[ \t]{0,8}[0-9]{1,7}[:\t→|]"
_LISTED = rf"(?:{_NUMBER}|(?!{_NUMBER}))"
_CELL = r"(?:0x)?[0-9a-fA-F]{2,16}"
_OFFSET = r"[0-9a-fA-F]{4,16}"
#: A cell with the blanks after it, and a character of `od -c`.
_NEXT = rf"{_CELL},?[ \t]{{1,4}}"
_CHARACTER = r" {3}[\x20-\x7e]| {2}\\[0abfnrtv]| [0-7]{3}"
#: A row of numbers, behind an offset or a blank.
_ROW = re.compile(
    rf"^{_LISTED}(?:[ \t]{{0,40}}(?P<offset>{_OFFSET})(?P<colon>:?)[ \t]{{1,8}}|[ \t]{{1,40}})"
    rf"(?P<cells>{_CELL},?(?![^\s|>])(?:[ \t]{{1,4}}{_CELL},?(?![^\s|>]))*)",
    re.MULTILINE,
)
_SPACED = re.compile(r"(?P<gap>[ \t]*)(?:0x)?(?P<digits>[0-9a-fA-F]{2,16}),?")
#: A row of characters: `od -c`, `hexdump -c`. Each takes four columns.
_CHARACTERS = re.compile(
    rf"^{_LISTED}(?P<offset>[0-7]{{7}}|)(?P<cells>(?:{_CHARACTER}){{1,64}})[ \t]*$",
    re.MULTILINE,
)
#: A possible beginning of either: part of an offset, or cells after an offset or a blank, with the text beside them.
_OPEN = re.compile(
    rf"{_LISTED}(?:[ \t]{{0,40}}{_OFFSET}:?(?:[ \t]{{1,8}}{match_all(_NEXT)}(?:0x)?[0-9a-fA-F]{{0,16}},?)?"
    rf"|[ \t]{{0,40}}{_OFFSET}:?[ \t]{{1,8}}{match_all(_NEXT, 1)}.{{0,70}}"
    rf"|[ \t]{{1,40}}{match_all(_NEXT)}(?:0x)?[0-9a-fA-F]{{0,16}},?)"
    rf"|{_LISTED}(?:[0-7]{{7}}|){match_all(_CHARACTER)} {{0,3}}\\?[0-7]{{0,2}}"
)
_FIRST = re.compile(r"[ \t0-9a-fA-F]{0,8}")
_ESCAPES = {f"\\{name}": chr(code) for name, code in zip("0abtnvfr", (0, 7, 8, 9, 10, 11, 12, 13), strict=True)}
_OCTAL = re.compile(r"[0-7]+")


class Row(NamedTuple):
    """A row of a dump: start of its numbers, end of its line, and index of its first byte."""

    start: int
    end: int
    first: int


class Dump(NamedTuple):
    """Consecutive rows, decoded in one way. `data` has a character below U+0100 for each byte."""

    data: str
    rows: tuple[Row, ...]

    def find_span(self, first: int, behind: int) -> tuple[int, int]:
        """Return the start and end in the text of the rows with these bytes."""
        rows = [row for index, row in enumerate(self.rows) if row.first < behind and self._find_row_end(index) > first]
        return rows[0].start, rows[-1].end

    def _find_row_end(self, index: int) -> int:
        return self.rows[index + 1].first if index + 1 < len(self.rows) else len(self.data)


class _Line(NamedTuple):
    start: int
    end: int
    kind: str
    cells: tuple[str, ...]
    offset: int | None


def as_bytes(text: str) -> str:
    """Return a text with a character below U+0100 for each byte, like `Dump.data`."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def find_dumps(text: str, at: int = 0) -> list[Dump]:
    """Return the dumps from the line of a position on, each in every possible decoding."""
    dumps: list[Dump] = []
    begin = text.rfind("\n", 0, at) + 1
    for pattern in (_ROW, _CHARACTERS):
        block: list[_Line] = []
        for line in _find_lines(pattern, text, begin):
            if block and (line.kind != block[-1].kind or text.count("\n", block[-1].end, line.start) != 1):
                dumps += _decode_block(block)
                block = []
            block.append(line)
        dumps += _decode_block(block) if block else []
    return dumps


def has_value(rows: str, value: str) -> bool:
    """Return whether rows of a dump, the first without its offset, contain a value."""
    data = as_bytes(value)
    return any(data in dump.data for text in (rows, f" {rows}") for dump in find_dumps(text))


def find_open_row(text: str) -> tuple[int, int]:
    """Return the start of a last line that may become a row, and of one that may continue a dump.

    Each is the end of the text if the last line is neither. One digit may continue a dump.
    """
    line = text.rfind("\n") + 1
    is_open = line < len(text) and _OPEN.fullmatch(text, line) is not None
    may_continue = is_open or _FIRST.fullmatch(text, line) is not None
    return line if is_open else len(text), line if may_continue else len(text)


def _find_lines(pattern: re.Pattern[str], text: str, at: int) -> Iterator[_Line]:
    """Yield the lines that are rows, in order."""
    for match in pattern.finditer(text, at):
        newline = text.find("\n", match.end())
        end = len(text) if newline < 0 else newline
        begin = match.start("cells")
        if pattern is _CHARACTERS:
            cells = match["cells"]
            yield _Line(
                begin, end, "c", tuple(cells[start : start + 4].lstrip(" ") for start in range(0, len(cells), 4)), None
            )
            continue
        digits = _split_digits(match["cells"], single=bool(match["colon"]))
        first = match["offset"]
        if first and not match["colon"] and len(first) == len(digits[0]):
            # A dump without offsets.
            digits, begin = (first, *digits), match.start("offset")
        yield _Line(begin, end, f"{len(digits[0])}", digits, int(first, 16) if match["colon"] else None)


def _split_digits(cells: str, *, single: bool) -> tuple[str, ...]:
    """Return the numbers of a row, all as long as the first except the last. `xxd` has two blanks before its text."""
    numbers: list[str] = []
    for match in _SPACED.finditer(cells):
        longest = len(numbers[0]) if numbers else 16
        if (numbers and single and len(match["gap"]) > 1) or len(match["digits"]) > longest:
            break
        numbers.append(match["digits"])
        if len(match["digits"]) < longest and len(numbers) > 1:
            break
    return tuple(numbers)


def _decode_big(cell: str) -> str:
    return bytes.fromhex(cell[: len(cell) & ~1]).decode("latin-1")


def _decode_little(cell: str) -> str:
    return _decode_big(cell)[::-1]


def _decode_octal(cell: str) -> str:
    number = int(cell, 8)
    return chr(number & 0xFF) + (chr(number >> 8 & 0xFF) if len(cell) > 3 else "")


def _decode_character(cell: str) -> str:
    if len(cell) == 3:
        return chr(int(cell, 8) & 0xFF)
    return _ESCAPES.get(cell, cell) or " "


Reading = Callable[[str], str]
_READINGS: dict[str, tuple[Reading, ...]] = {
    "c": (_decode_character,),
    "2": (_decode_big,),
    "3": (_decode_octal,),
    "4": (_decode_big, _decode_little),
    "6": (_decode_big, _decode_octal),
    "8": (_decode_big, _decode_little),
    "16": (_decode_big, _decode_little),
}


def _decode_block(block: list[_Line]) -> list[Dump]:
    readings = _READINGS.get(block[0].kind, ())
    is_octal = all(_OCTAL.fullmatch(cell) for line in block for cell in line.cells)
    return [_build_dump(block, read) for read in readings if read is not _decode_octal or is_octal]


def _build_dump(block: list[_Line], read: Reading) -> Dump:
    rows: list[Row] = []
    data = ""
    for index, line in enumerate(block):
        decoded = "".join(read(cell) for cell in line.cells)
        following = block[index + 1].offset if index + 1 < len(block) else None
        if line.offset is not None and following is not None and 0 < following - line.offset < len(decoded):
            # The text beside the numbers may look like a number.
            decoded = decoded[: following - line.offset]
        rows.append(Row(line.start, line.end, len(data)))
        data += decoded
    return Dump(data, tuple(rows))
