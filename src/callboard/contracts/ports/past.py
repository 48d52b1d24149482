"""Port of past sessions: transcripts of other products on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..commands.session_import import ImportTurn, PastSessionList
from ..facts.session import SessionSource


@dataclass(frozen=True, kw_only=True)
class PastTranscript:
    """A past session.

    Iterating `turns` reads the transcript and blocks. An `unfinished` session is without its newest
    turn.

    Raises:
        Refusal: `transcript_unreadable`, or `invalid_input` at a turn too large for a command.
    """

    turns: Iterator[ImportTurn]
    unfinished: bool


class PastSessions(Protocol):
    """The past sessions of the person, at the places where each product stores them.

    Methods block for a bounded time.
    """

    def find(self, folder: str) -> PastSessionList:
        """Return the past sessions of the folder (absolute, symlinks resolved), without their import state."""
        ...

    def open(self, folder: str, source: SessionSource, source_id: str, workspace: str) -> PastTranscript | None:
        """Return a past session of the folder as turns for the workspace; None if there is no such transcript.

        A new or empty one has no turns.
        """
        ...
