"""Rounds of a conversation: what was asked, with the answers that follow up to the next question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from callboard.contracts.ports.model import ModelMessage

_ANSWERS = frozenset({"assistant", "model"})
#: Items of the Responses format that carry no role and belong to what is asked.
_ASKED_TYPES = frozenset({"function_call_output"})

Messages = tuple[ModelMessage, ...]


def finished_rounds(messages: Messages, start: int) -> Iterator[int]:
    """Yield the end index of every finished round from `start` on.

    A round is finished once a later question follows its answers: only then can nothing join it. `start` must be the
    beginning of a round.
    """
    answered = False
    for index in range(start, len(messages)):
        answers = messages[index].role == "assistant"
        if answered and not answers:
            yield index
        answered = answers


def asks(messages: Messages, at: int) -> bool:
    """Return whether a question is there, which finishes the round before it."""
    return at < len(messages) and messages[at].role != "assistant"


def split_items(items: Sequence[Any]) -> list[list[Any]]:
    """Split encoded items of a wire format into rounds, at each step from an answer to a question."""
    rounds: list[list[Any]] = []
    answered = True
    for item in items:
        answers = _answers(item)
        if (answered and not answers) or not rounds:
            rounds.append([])
        rounds[-1].append(item)
        answered = answers
    return rounds


def _answers(item: object) -> bool:
    if not isinstance(item, Mapping):
        return False
    fields = cast("Mapping[str, Any]", item)
    role = fields.get("role")
    return role in _ANSWERS if role else fields.get("type") not in _ASKED_TYPES
