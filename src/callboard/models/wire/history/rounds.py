"""Rounds of a conversation: questions with the responses up to the next question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from callboard.contracts.ports.model import ModelMessage

_RESPONSE_ROLES = frozenset({"assistant", "model"})
#: Items of the Responses format without a role that belong to a question.
_QUESTION_TYPES = frozenset({"function_call_output"})

Messages = tuple[ModelMessage, ...]


def find_finished_rounds(messages: Messages, start: int) -> Iterator[int]:
    """Yield the end index of every finished round from `start` on.

    A round is finished once a question follows its responses. `start` must be the beginning of a round.
    """
    was_response = False
    for index in range(start, len(messages)):
        is_response = messages[index].role == "assistant"
        if was_response and not is_response:
            yield index
        was_response = is_response


def is_question(messages: Messages, at: int) -> bool:
    """Return whether there is a question at an index, which finishes the round before it."""
    return at < len(messages) and messages[at].role != "assistant"


def split_items(items: Sequence[Any]) -> list[list[Any]]:
    """Split encoded items of a wire format into rounds."""
    rounds: list[list[Any]] = []
    was_response = True
    for item in items:
        is_response = _is_response(item)
        if (was_response and not is_response) or not rounds:
            rounds.append([])
        rounds[-1].append(item)
        was_response = is_response
    return rounds


def _is_response(item: object) -> bool:
    if not isinstance(item, Mapping):
        return False
    fields = cast("Mapping[str, Any]", item)
    role = fields.get("role")
    return role in _RESPONSE_ROLES if role else fields.get("type") not in _QUESTION_TYPES
