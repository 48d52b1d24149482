"""Past sessions that other products left on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..commands.session_import import ImportTurn, PastSessionList
from ..facts.session import SessionSource


@dataclass(frozen=True, kw_only=True)
class PastTranscript:
    """What one past session holds. `turns` blocks while it reads, and raises Refusal `transcript_unreadable` where that fails,
    `invalid_input` at a turn that no command can hold; one that is `unfinished` leaves its newest turn out."""

    turns: Iterator[ImportTurn]
    unfinished: bool


class PastSessions(Protocol):
    """The past sessions of this machine's person, each found where its product keeps it and never named by its file. Both
    methods block while they read, and read so much and no more."""

    def find(self, folder: str) -> PastSessionList:
        """Those that worked in the folder (absolute, symlinks resolved), with nothing said of what is here of them."""
        ...

    def open(self, folder: str, source: SessionSource, source_id: str, workspace: str) -> PastTranscript | None:
        """One that worked in the folder, as turns for the workspace, of which a new or empty one has none yet. None where there
        is no transcript of that name."""
        ...
