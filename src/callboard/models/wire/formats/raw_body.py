"""OpenAI's client without its transformation of the body, which already has the wire format."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..history.body import capture_items

#: Arguments with the conversation, and all arguments that grow with it and its tools.
_CONVERSATION = ("messages", "input")
_LARGE = (*_CONVERSATION, "tools")


def send_untransformed(resource: Any) -> None:
    """Make `resource.create` pass its conversation and its tools to the body unchanged.

    The client would check each value against its annotations, which takes most of the time of a call and changes nothing.

    Args:
        resource: `client.chat.completions` or `client.responses`.
    """
    create: Callable[..., Awaitable[Any]] = resource.create

    async def create_untransformed(**arguments: Any) -> Any:
        # An omitted argument is not a list.
        large = {name: arguments[name] for name in _LARGE if isinstance(arguments.get(name), list)}
        for name in _CONVERSATION:
            if name in large:
                capture_items(large[name])
        more: dict[str, Any] = arguments.pop("extra_body", None) or {}
        body = {**more, **large}
        # The client requires a conversation, which the body replaces.
        empty: dict[str, list[Any]] = {name: [] for name in large}
        return await create(**{**arguments, **empty, "extra_body": body})

    resource.create = create_untransformed
