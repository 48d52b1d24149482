"""Redaction of a text that comes in pieces. What may be the beginning of a secret is held back until more is known, so that no
piece shows a part of one; how much is held is bounded by the longest value and by the bounds of the shapes."""

from __future__ import annotations

from collections.abc import Callable

from .matching import IN_HANDLE, Found, Matcher, context

Put = Callable[[str, list[Found], int, int], str]


class TextVeil:
    """Implements the port `Veil`. `matcher` is asked for at each piece, so that a value counts from when it is known; `put`
    writes handles in place of matches (`redaction.put`)."""

    def __init__(self, matcher: Callable[[], Matcher], put: Put) -> None:
        self._matcher = matcher
        self._put = put
        #: What was let out last, as it came, and what is held back.
        self._before = ""
        self._held = ""
        self._after_handle = False

    def add(self, piece: str) -> str:
        """What may be shown now."""
        text = self._before + self._held + piece
        at = len(self._before)
        if len(text) == at:
            return ""
        decided, matches = self._matcher().cut(text, at)
        shown = self._shown(text, matches, at, decided)
        if decided > at:
            self._before = context(text, decided)
            self._after_handle = bool(matches) and matches[-1].end == decided and matches[-1].handle is not None
        self._held = text[decided:]
        return shown

    def rest(self) -> str:
        """What is held back, redacted as if nothing followed."""
        if not self._held:
            return ""
        text, at = self._before + self._held, len(self._before)
        return self._shown(text, self._matcher().find(text, at), at, len(text))

    def _shown(self, text: str, matches: list[Found], at: int, until: int) -> str:
        shown = self._put(text, matches, at, until)
        separate = self._after_handle and until > at and text[at] in IN_HANDLE
        return f"~{shown}" if separate else shown
