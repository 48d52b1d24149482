"""OpenAI's client without its walk over the body: what the library maps is in the wire's shape already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..history.body import hand_over

#: Arguments that are the conversation, and those that grow with it and its tools.
_CONVERSATION = ("messages", "input")
_LARGE = (*_CONVERSATION, "tools")


def send_untransformed(resource: Any) -> None:
    """Make `resource.create` pass its conversation and its tools to the body as they are.

    The client checks each value of a request against its annotations before it sends it, which takes most of the time of a
    call. It changes nothing in these arguments.

    Args:
        resource: `client.chat.completions` or `client.responses`.
    """
    create: Callable[..., Awaitable[Any]] = resource.create

    async def create_untransformed(**arguments: Any) -> Any:
        # What is omitted is neither a list nor in the body.
        large = {name: arguments[name] for name in _LARGE if isinstance(arguments.get(name), list)}
        for name in _CONVERSATION:
            if name in large:
                hand_over(large[name])
        more: dict[str, Any] = arguments.pop("extra_body", None) or {}
        body = {**more, **large}
        # The client insists on a conversation, which the body then replaces.
        empty: dict[str, list[Any]] = {name: [] for name in large}
        return await create(**{**arguments, **empty, "extra_body": body})

    resource.create = create_untransformed
