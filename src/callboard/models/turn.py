"""Helpers to read the current turn from a request, for models without state."""

from __future__ import annotations

from callboard.contracts.ports.model import ModelMessage, ModelRequest, TextContent


def find_turn_start(request: ModelRequest) -> int:
    """Return the index of the user message that started the run, -1 if there is none.

    If the request does not have it, it is counted: each earlier call of the run left one assistant message.
    """
    if request.begins is not None:
        return request.begins
    end = len(request.messages)
    for _ in range(request.iteration - 1):
        end = _find_last(request, "assistant", end)
    return _find_last(request, "user", end)


def read_text(message: ModelMessage) -> str:
    """Return the text of a message, without reasoning, calls and results."""
    return "\n".join(part.text for part in message.content if isinstance(part, TextContent))


def read_input(message: ModelMessage) -> str:
    """Return the input in a message, without attachments, which follow it."""
    return next((part.text for part in message.content if isinstance(part, TextContent)), "")


def _find_last(request: ModelRequest, role: str, end: int) -> int:
    return next((index for index in reversed(range(max(end, 0))) if request.messages[index].role == role), -1)
