"""Rounds of a conversation: questions with the answers up to the next question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from callboard.contracts.ports.model import ModelMessage

_ANSWERS = frozenset({"assistant", "model"})
#: Items of the Responses format without a role that belong to a question.
_QUESTION_TYPES = frozenset({"function_call_output"})

Messages = tuple[ModelMessage, ...]


def find_finished_rounds(messages: Messages, start: int) -> Iterator[int]:
    """Yield the end index of every finished round from `start` on.

    A round is finished once a question follows its answers. `start` must be the beginning of a round.
    """
    was_answer = False
    for index in range(start, len(messages)):
        is_answer = messages[index].role == "assistant"
        if was_answer and not is_answer:
            yield index
        was_answer = is_answer


def is_question(messages: Messages, at: int) -> bool:
    """Return whether there is a question at an index, which finishes the round before it."""
    return at < len(messages) and messages[at].role != "assistant"


def split_items(items: Sequence[Any]) -> list[list[Any]]:
    """Split encoded items of a wire format into rounds."""
    rounds: list[list[Any]] = []
    was_answer = True
    for item in items:
        is_answer = _is_answer(item)
        if (was_answer and not is_answer) or not rounds:
            rounds.append([])
        rounds[-1].append(item)
        was_answer = is_answer
    return rounds


def _is_answer(item: object) -> bool:
    if not isinstance(item, Mapping):
        return False
    fields = cast("Mapping[str, Any]", item)
    role = fields.get("role")
    return role in _ANSWERS if role else fields.get("type") not in _QUESTION_TYPES
