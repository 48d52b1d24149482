"""Output streams, colours, and removal of terminal controls from text of models, files and tools."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from typing import TextIO

import msgspec

from callboard.contracts.text.exact import mark

#: A control sequence, complete or truncated. A string sequence ends at the end of its line at the latest.
_SEQUENCE = re.compile(
    r"""
      (?: \x1b \[ | \x9b ) [0-?]* [ -/]* [@-~]?                                     # control sequences
    | (?: \x1b [\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x07\x1b\x9c\n]* (?: \x07 | \x1b \\ | \x9c )?   # strings
    | \x1b [ -/]* [0-~]?                                                          # escapes
    """,
    re.VERBOSE,
)
#: Other controls, except tab and line feed, and characters that reorder or hide text.
_DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
#: Seconds between two lines of progress.
_INTERVAL_SECONDS = 2.0
#: A sequence that the next piece of the text may continue.
_UNFINISHED = re.compile(
    r"""(?:
      (?: \x1b \[ | \x9b ) [0-?]* [ -/]*
    | (?: \x1b [\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x07\x1b\x9c\n]{0,4096} \x1b?
    | \x1b [ -/]*
    | \r
    )\Z""",
    re.VERBOSE,
)


def strip_controls(text: str) -> str:
    """Return the text without control sequences; lines end in a line feed."""
    return _DROPPED.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def mark_hidden(text: str) -> str:
    """Return a text to decide on, with hidden characters written out instead of removed."""
    return mark(text)


def to_line(text: str, width: int = 0) -> str:
    """Return the text on one line, truncated to `width` characters; 0 means no limit."""
    line = " ".join(strip_controls(text).split())
    return line if not width or len(line) <= width else f"{line[: max(0, width - 1)]}…"


class ControlStripper:
    """Removal of control sequences from a text that arrives in pieces."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that can be printed after this piece."""
        text = self._held + piece
        match = _UNFINISHED.search(text)
        end = match.start() if match else len(text)
        self._held = text[end:]
        return strip_controls(text[:end])

    def end(self) -> str:
        """Return the text of an unfinished sequence."""
        held, self._held = self._held, ""
        return strip_controls(held)


class Style:
    """Colours for a terminal that supports them; plain text otherwise."""

    def __init__(self, stream: TextIO) -> None:
        self.on = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

    def plain(self, text: str) -> str:
        return text

    def dim(self, text: str) -> str:
        return self("2", text)

    def bold(self, text: str) -> str:
        return self("1", text)

    def good(self, text: str) -> str:
        return self("32", text)

    def bad(self, text: str) -> str:
        return self("31", text)

    def warn(self, text: str) -> str:
        return self("33", text)


def read_terminal_width() -> int:
    """Return the number of characters on a line."""
    return shutil.get_terminal_size((100, 24)).columns


def print_out(text: str = "", *, end: str = "\n") -> None:
    """Print the requested output to standard output."""
    print(text, end=end, file=sys.stdout, flush=True)


def print_err(text: str = "", *, end: str = "\n") -> None:
    """Print notes, progress and errors to standard error."""
    print(text, end=end, file=sys.stderr, flush=True)


def print_json(value: msgspec.Struct) -> None:
    """Print a value as one line of JSON to standard output."""
    print_out(msgspec.json.encode(value).decode())


class Progress:
    """Progress lines of a long verb. Short work prints none."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.monotonic()
        self._style = Style(sys.stderr)

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if not self._quiet and now - self._last >= _INTERVAL_SECONDS:
            self._last = now
            print_err(self._style.dim(f"… {text}"))
