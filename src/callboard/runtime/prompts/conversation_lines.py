"""The messages of a conversation, each built once."""

from __future__ import annotations

import msgspec

from callboard.contracts.ports.model import ModelMessage

from .content_renderer import Pinned, replace_images


class Entry(msgspec.Struct, frozen=True):
    """A message, with the sequence of its first fact and of its turn's start.

    Attributes:
        is_input: It is the input of its turn.
        pins: The pinned contents of the turn, in place of a message.
        is_excerpt: It is a person's message that is kept beside a summary.
        is_interrupted: It is an incomplete answer.
        is_resume: Callboard wrote it to continue interrupted work.
    """

    sequence: int
    turn: int
    message: ModelMessage
    is_input: bool = False
    pins: tuple[Pinned, ...] = ()
    is_excerpt: bool = False
    is_interrupted: bool = False
    is_resume: bool = False


class ConversationLines:
    """Builds the messages of a growing list of entries, and only the new ones.

    A pinned content becomes a message when it first appears and when it changes. Call `change_last`
    before the last entry gets another message, `drop_front` before entries leave the front, and
    `reset` after other entries left.
    """

    def __init__(self) -> None:
        self._built_count = 0
        self._entries: list[Entry] = []
        self._messages: list[ModelMessage] = []
        self._plain: list[ModelMessage] = []
        self._pins: dict[str, str] = {}

    def reset(self) -> None:
        """Forget all messages: the next call builds them again."""
        self._built_count = 0
        self._pins.clear()
        for lines in (self._entries, self._messages, self._plain):
            lines.clear()

    def drop_front(self, count: int) -> None:
        """Forget the messages of the first entries."""
        if self._pins:
            # Pinned contents of dropped entries must become messages of later entries.
            self.reset()
            return
        # Without pins, each entry has one message.
        self._built_count = max(self._built_count - count, 0)
        for lines in (self._entries, self._messages, self._plain):
            del lines[:count]

    def change_last(self, entry: Entry) -> None:
        """Forget the message of the last entry."""
        if self._entries and self._entries[-1] is entry:
            self._built_count -= 1
            for lines in (self._entries, self._messages):
                lines.pop()
            del self._plain[len(self._entries) :]

    def build(self, entries: list[Entry]) -> tuple[list[Entry], list[ModelMessage]]:
        """Return the entries that have a message, and the messages. Do not change these lists."""
        for entry in entries[self._built_count :]:
            message = entry.message
            if entry.pins:
                changed = [pinned for pinned in entry.pins if self._pins.get(pinned.ref) != pinned.hash]
                self._pins.update((pinned.ref, pinned.hash) for pinned in changed)
                if not changed:
                    continue
                message = ModelMessage(
                    role="user", content=tuple(content for pinned in changed for content in pinned.contents)
                )
            self._entries.append(entry)
            self._messages.append(message)
        self._built_count = len(entries)
        return self._entries, self._messages

    def build_plain(self, entries: list[Entry]) -> list[ModelMessage]:
        """Return the messages with images described in text. Do not change the list."""
        _, messages = self.build(entries)
        self._plain += [replace_images(message) for message in messages[len(self._plain) :]]
        return self._plain
