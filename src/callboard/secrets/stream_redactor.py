"""Redaction of a text in pieces.

A possible beginning of a secret is withheld until more text decides, so no piece shows a part of
one. The longest value and the bounds of the shapes limit how much is withheld.
"""

from __future__ import annotations

from collections.abc import Callable

from .matcher import IN_HANDLE, Match, Matcher, context

Put = Callable[[str, list[Match], int, int], str]


class StreamRedactor:
    """Implements the port `StreamRedaction`.

    Args:
        matcher: Returns the current matcher, so that a new value applies at once.
        put: Writes handles instead of matches (`Redaction._put`).
    """

    def __init__(self, matcher: Callable[[], Matcher], put: Put) -> None:
        self._matcher = matcher
        self._put = put
        #: Unredacted text: returned last, released early but undecided, and withheld.
        self._before: str = ""
        self._early: str = ""
        self._held: str = ""
        self._after_handle = False

    def add(self, piece: str) -> str:
        """Add a piece and return the text that is safe to show now."""
        text = self._before + self._early + self._held + piece
        at = len(self._before)
        if len(text) == at:
            return ""
        out = at + len(self._early)
        decided, matches = self._matcher().cut(text, at)
        shown = self._shown(text, matches, out, decided)
        if decided > out:
            self._after_handle = bool(matches) and matches[-1].end == decided and matches[-1].handle is not None
        if decided > at:
            self._before = context(text, decided)
        out = max(out, decided)
        self._early, self._held = text[decided:out], text[out:]
        return shown

    def release_harmless(self) -> str:
        """Return the withheld text if it is too short to reveal a secret. Later text is checked
        together with it.
        """
        text, at = self._before + self._early + self._held, len(self._before)
        if not self._held or not self._matcher().harmless(text, at):
            return ""
        shown = self._shown(text, [], at + len(self._early), len(text))
        self._early, self._held, self._after_handle = text[at:], "", False
        return shown

    def pending(self) -> str:
        """Return the withheld text, redacted as if the text ended here."""
        if not self._held:
            return ""
        text, at = self._before + self._early + self._held, len(self._before)
        return self._shown(text, self._matcher().find(text, at), at + len(self._early), len(text))

    def _shown(self, text: str, matches: list[Match], out: int, until: int) -> str:
        """Return the text up to a position that was not returned yet. A handle replaces the whole
        of a match.
        """
        if until <= out:
            return ""
        shown = self._put(text, [one for one in matches if one.end > out], out, until)
        return f"~{shown}" if self._after_handle and shown[0] in IN_HANDLE else shown
