"""Redaction of a text that comes in pieces. What may be the beginning of a secret is held back until more is known, so that no
piece shows a part of one; how much is held is bounded by the longest value and by the bounds of the shapes."""

from __future__ import annotations

from collections.abc import Callable

from .matcher import IN_HANDLE, Match, Matcher, context

Put = Callable[[str, list[Match], int, int], str]


class StreamRedactor:
    """Implements the port `Veil`. `matcher` is asked for at each piece, so that a value counts from when it is known; `put`
    writes handles in place of matches (`redaction.put`)."""

    def __init__(self, matcher: Callable[[], Matcher], put: Put) -> None:
        self._matcher = matcher
        self._put = put
        #: As it came: what was let out last, what of that may still be the beginning of a secret, and what is held back.
        self._before: str = ""
        self._early: str = ""
        self._held: str = ""
        self._after_handle = False

    def add(self, piece: str) -> str:
        """What may be shown now."""
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
        """All that is held back, if it is too little to give a secret away. What follows is looked at together with it."""
        text, at = self._before + self._early + self._held, len(self._before)
        if not self._held or not self._matcher().harmless(text, at):
            return ""
        shown = self._shown(text, [], at + len(self._early), len(text))
        self._early, self._held, self._after_handle = text[at:], "", False
        return shown

    def pending(self) -> str:
        """What is held back, redacted as if nothing followed."""
        if not self._held:
            return ""
        text, at = self._before + self._early + self._held, len(self._before)
        return self._shown(text, self._matcher().find(text, at), at + len(self._early), len(text))

    def _shown(self, text: str, matches: list[Match], out: int, until: int) -> str:
        """What is not let out yet up to a place. A handle stands for the whole of a match, also of one that began before."""
        if until <= out:
            return ""
        shown = self._put(text, [one for one in matches if one.end > out], out, until)
        return f"~{shown}" if self._after_handle and shown[0] in IN_HANDLE else shown
