"""Redaction of a text in pieces.

A possible beginning of a secret is withheld until more text decides, so no piece has a part of
one. The longest value and the bounds of the shapes limit how much is withheld.
"""

from __future__ import annotations

from collections.abc import Callable

from .matcher import IN_HANDLE, Match, Matcher, read_context

InsertHandles = Callable[[str, list[Match], int, int], str]


class StreamRedactor:
    """Implements the port `StreamRedaction`.

    Args:
        matcher: Returns the current matcher, so that a new value applies immediately.
        insert_handles: Returns a part of a text with handles instead of matches.
    """

    def __init__(self, matcher: Callable[[], Matcher], insert_handles: InsertHandles) -> None:
        self._matcher = matcher
        self._insert_handles = insert_handles
        #: Unredacted text: returned last, released early but undecided, and withheld.
        self._before: str = ""
        self._early: str = ""
        self._withheld: str = ""
        self._after_handle = False

    def add(self, piece: str) -> str:
        """Add a piece and return the text that is safe to show now."""
        text = self._before + self._early + self._withheld + piece
        at = len(self._before)
        if len(text) == at:
            return ""
        out = at + len(self._early)
        decided, matches = self._matcher().split(text, at)
        redacted = self._write(text, matches, out, decided)
        if decided > out:
            self._after_handle = bool(matches) and matches[-1].end == decided and matches[-1].handle is not None
        if decided > at:
            self._before = read_context(text, decided)
        out = max(out, decided)
        self._early, self._withheld = text[decided:out], text[out:]
        return redacted

    def release_harmless(self) -> str:
        """Return the withheld text if it is too short to reveal a secret. Later text is checked together with it."""
        text, at = self._before + self._early + self._withheld, len(self._before)
        if not self._withheld or not self._matcher().is_harmless(text, at):
            return ""
        redacted = self._write(text, [], at + len(self._early), len(text))
        self._early, self._withheld, self._after_handle = text[at:], "", False
        return redacted

    def read_withheld(self) -> str:
        """Return the withheld text, redacted as if the text ended here."""
        if not self._withheld:
            return ""
        text, at = self._before + self._early + self._withheld, len(self._before)
        return self._write(text, self._matcher().find(text, at), at + len(self._early), len(text))

    def _write(self, text: str, matches: list[Match], out: int, until: int) -> str:
        """Return the text from `out` to `until`. A handle replaces a whole match."""
        if until <= out:
            return ""
        redacted = self._insert_handles(text, [match for match in matches if match.end > out], out, until)
        return f"~{redacted}" if self._after_handle and redacted[0] in IN_HANDLE else redacted
