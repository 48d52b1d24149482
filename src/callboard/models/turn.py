"""What a request says of the turn that it belongs to, for models that hold nothing between calls."""

from __future__ import annotations

from callboard.contracts.ports.model import ModelMessage, ModelRequest, TextContent


def turn_begins(request: ModelRequest) -> int:
    """The index of the user's message that the run began with, -1 where there is none.

    Where the request does not say it, it is counted: each earlier call of the run left one message of the assistant, and what
    the user said since then came in between.
    """
    if request.begins is not None:
        return request.begins
    end = len(request.messages)
    for _ in range(request.iteration - 1):
        end = _last(request, "assistant", end)
    return _last(request, "user", end)


def spoken(message: ModelMessage) -> str:
    """The text of a message, without reasoning, calls and results."""
    return "\n".join(part.text for part in message.content if isinstance(part, TextContent))


def input_of(message: ModelMessage) -> str:
    """What somebody said in a message; what came with it, such as a file, stands behind."""
    return next((part.text for part in message.content if isinstance(part, TextContent)), "")


def _last(request: ModelRequest, role: str, end: int) -> int:
    return next((index for index in reversed(range(max(end, 0))) if request.messages[index].role == role), -1)
