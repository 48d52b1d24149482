"""Where text goes, and text as it is safe to print: what a model, a file or a tool says moves no cursor and runs nothing."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from typing import TextIO

from callboard.contracts.text.exact import mark

#: A sequence that a terminal would act on, whole or as far as it came. Strings end at the line at the latest.
_SEQUENCE = re.compile(
    r"""
      (?: \x1b \[ | \x9b ) [0-?]* [ -/]* [@-~]?                                     # control sequences
    | (?: \x1b [\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x07\x1b\x9c\n]* (?: \x07 | \x1b \\ | \x9c )?   # strings
    | \x1b [ -/]* [0-~]?                                                          # escapes
    """,
    re.VERBOSE,
)
#: What is left: controls other than tab and line feed, and characters that reorder or hide text.
_DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
#: How many seconds pass between two lines of progress.
_EVERY_S = 2.0
#: What may go on in the next piece of a text.
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
    """The text without anything that a terminal acts on; lines end in a line feed."""
    return _DROPPED.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def mark_hidden(text: str) -> str:
    """The text that a person decides on, with nothing hidden: what elsewhere is dropped is written out."""
    return mark(text)


def to_line(text: str, width: int = 0) -> str:
    """The text on one line, cut to a width in characters where one is given."""
    line = " ".join(strip_controls(text).split())
    return line if not width or len(line) <= width else f"{line[: max(0, width - 1)]}…"


class ControlStripper:
    """A text that comes in pieces, without what a terminal acts on, also where that is spread over pieces."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be printed once this piece came."""
        text = self._held + piece
        found = _UNFINISHED.search(text)
        cut = found.start() if found else len(text)
        self._held = text[cut:]
        return strip_controls(text[:cut])

    def end(self) -> str:
        """What was held back in case it went on."""
        held, self._held = self._held, ""
        return strip_controls(held)


class Style:
    """Colours where the stream is a terminal that shows them; elsewhere the text as it is."""

    def __init__(self, stream: TextIO) -> None:
        self.on = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text

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


def terminal_width() -> int:
    """How many characters a line has room for."""
    return shutil.get_terminal_size((100, 24)).columns


def print_out(text: str = "", *, end: str = "\n") -> None:
    """What was asked for, to standard output."""
    print(text, end=end, file=sys.stdout, flush=True)


def print_err(text: str = "", *, end: str = "\n") -> None:
    """What goes along with it, to standard error."""
    print(text, end=end, file=sys.stderr, flush=True)


class Progress:
    """Prints a line now and then, and nothing for work that ends at once."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.monotonic()
        self._style = Style(sys.stderr)

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if not self._quiet and now - self._last >= _EVERY_S:
            self._last = now
            print_err(self._style.dim(f"… {text}"))
