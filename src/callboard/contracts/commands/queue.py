"""Commands that change the queue of a thread."""

from __future__ import annotations

from .base import Answer, Command, Id, Prompt, Reason, command
from .turn import require_text


class QueueChanged(Answer, frozen=True, kw_only=True):
    """Ids of the thread's queued turns, in order."""

    session_id: str
    thread_id: str
    queued: tuple[str, ...]
    sequence: int


@command("remove_queued_turn", QueueChanged)
class RemoveQueuedTurn(Command, frozen=True, kw_only=True):
    """Remove a turn from the queue."""

    session_id: Id
    turn_id: Id
    reason: Reason = ""


@command("promote_queued_turn", QueueChanged)
class PromoteQueuedTurn(Command, frozen=True, kw_only=True):
    """Move a queued turn to the front."""

    session_id: Id
    turn_id: Id
    reason: Reason = ""


@command("edit_queued_turn", QueueChanged)
class EditQueuedTurn(Command, frozen=True, kw_only=True):
    """Replace the input of a queued turn."""

    session_id: Id
    turn_id: Id
    text: Prompt

    def validate(self) -> None:
        """Refuse a blank text."""
        require_text(self.text)
