"""The messages of a conversation, built once each."""

from __future__ import annotations

from dataclasses import dataclass

from callboard.contracts.ports.model import ModelMessage

from .content_renderer import Pinned, without_images


@dataclass
class Entry:
    """A message with the sequence of the fact that began it, and that of its turn's start. What a turn was asked is `asked`.
    `pins` is all that the turn is given of what is pinned, in place of a message. `said` stands beside a summary, `cut` is what
    there was of an answer that broke off."""

    sequence: int
    turn: int
    message: ModelMessage
    is_input: bool = False
    pins: tuple[Pinned, ...] = ()
    is_excerpt: bool = False
    is_interrupted: bool = False


class ConversationLines:
    """Builds the messages of a growing list of entries, and only what is new in it.

    A pinned thing is a message where it comes first, and again where it changed. Call `change_last` before the last entry
    gets another message, `drop_front` before entries leave it at the front, and `reset` after others left it.
    """

    def __init__(self) -> None:
        self._built = 0
        self._entries: list[Entry] = []
        self._messages: list[ModelMessage] = []
        self._plain: list[ModelMessage] = []
        self._pins: dict[str, str] = {}

    def reset(self) -> None:
        """Forget everything: the next call builds all entries anew."""
        self._built = 0
        self._pins.clear()
        for lines in (self._entries, self._messages, self._plain):
            lines.clear()

    def drop_front(self, count: int) -> None:
        """Forget the messages of the first entries."""
        if self._pins:
            # What was pinned there first is a message where it comes next.
            self.reset()
            return
        # Without pins each entry has a message.
        self._built = max(self._built - count, 0)
        for lines in (self._entries, self._messages, self._plain):
            del lines[:count]

    def change_last(self, entry: Entry) -> None:
        """Forget the message of the last entry."""
        if self._entries and self._entries[-1] is entry:
            self._built -= 1
            for lines in (self._entries, self._messages):
                lines.pop()
            del self._plain[len(self._entries) :]

    def build(self, entries: list[Entry]) -> tuple[list[Entry], list[ModelMessage]]:
        """Return the entries that have a message, and the messages. The lists belong to this object."""
        for entry in entries[self._built :]:
            message = entry.message
            if entry.pins:
                news = [one for one in entry.pins if self._pins.get(one.ref) != one.hash]
                self._pins.update((one.ref, one.hash) for one in news)
                if not news:
                    continue
                message = ModelMessage(role="user", content=tuple(content for one in news for content in one.contents))
            self._entries.append(entry)
            self._messages.append(message)
        self._built = len(entries)
        return self._entries, self._messages

    def build_plain(self, entries: list[Entry]) -> list[ModelMessage]:
        """Return the messages without images, each named in its place. The list belongs to this object."""
        _, messages = self.build(entries)
        self._plain += [without_images(one) for one in messages[len(self._plain) :]]
        return self._plain
