"""What a scenario makes of the results of earlier calls: what it takes over, such as the id of a task that it made, and what it
says only where a call came to something."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from callboard.contracts.casing import snake
from callboard.contracts.ports.model import ModelFailure, ModelRequest, ToolResultContent
from callboard.contracts.tool_names import stored_name

from .scenario import Part
from .turn import input_of, turn_begins

_QUOTE = re.compile(r"\{(?P<tool>\w+)\[(?P<number>\d+)\]\.(?P<field>\w+)\}")

_INPUT = "{input}"


def fits(part: Part, request: ModelRequest) -> bool:
    """False for a part that is said only where a call came to something else than it did."""
    return (part.if_done is None or _done(part.if_done, request)) and (
        part.if_not_done is None or not _done(part.if_not_done, request)
    )


def _done(tool: str, request: ModelRequest) -> bool:
    results = _results(tool, request)
    return bool(results) and not results[-1].failed


def quoted(part: Part, request: ModelRequest) -> Part:
    """The part, with what its tool's arguments name of earlier results put in.

    Raises ModelFailure where there is no such result.
    """
    if part.tool is None or isinstance(part.tool.arguments, str):
        return part
    arguments: dict[str, Any] = _filled(part.tool.arguments, request)
    if arguments == part.tool.arguments:
        return part
    return msgspec.structs.replace(part, tool=msgspec.structs.replace(part.tool, arguments=arguments))


def _filled(value: Any, request: ModelRequest) -> Any:
    if isinstance(value, dict):
        return {key: _filled(one, request) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_filled(one, request) for one in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    found = _QUOTE.fullmatch(value)
    if found is not None:
        return _field(found, request)
    begins = turn_begins(request)
    return value.replace(_INPUT, input_of(request.messages[begins])) if begins >= 0 else value


def _field(quote: re.Match[str], request: ModelRequest) -> Any:
    results = _results(quote["tool"], request)
    try:
        result: dict[str, Any] = msgspec.json.decode(results[int(quote["number"])].text, type=dict[str, Any])
        # Scenarios of earlier versions quote camelCase names.
        return result[quote["field"] if quote["field"] in result else snake(quote["field"])]
    except (IndexError, KeyError, msgspec.MsgspecError):
        message = f"The scenario quotes {quote[0]}, which the conversation does not have."
        raise ModelFailure("model_refused_request", message, retryable=False) from None


def _results(tool: str, request: ModelRequest) -> list[ToolResultContent]:
    return [
        part
        for message in request.messages
        for part in message.content
        if isinstance(part, ToolResultContent) and part.tool == stored_name(tool)
    ]
