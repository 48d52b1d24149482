"""References of a scenario to results of earlier calls: quoted fields such as the id of a created task, and conditions."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from callboard.contracts.casing import to_snake_case
from callboard.contracts.ports.model import ModelFailure, ModelRequest, ToolResultContent
from callboard.contracts.tool_names import to_stored_name

from .scenario import Part
from .turn import find_turn_start, read_input

_QUOTE = re.compile(r"\{(?P<tool>\w+)\[(?P<number>\d+)\]\.(?P<field>\w+)\}")

_INPUT = "{input}"


def is_due(part: Part, request: ModelRequest) -> bool:
    """Return whether the conditions of a part on earlier calls are met."""
    return (part.if_done is None or _has_succeeded(part.if_done, request)) and (
        part.if_not_done is None or not _has_succeeded(part.if_not_done, request)
    )


def _has_succeeded(tool: str, request: ModelRequest) -> bool:
    results = _list_results(tool, request)
    return bool(results) and not results[-1].failed


def resolve_quotes(part: Part, request: ModelRequest) -> Part:
    """Replace quotes in the arguments of a tool call with fields of earlier results.

    Raises:
        ModelFailure: `model_refused_request` if there is no such result or field.
    """
    if part.tool is None or isinstance(part.tool.arguments, str):
        return part
    arguments: dict[str, Any] = _resolve(part.tool.arguments, request)
    if arguments == part.tool.arguments:
        return part
    return msgspec.structs.replace(part, tool=msgspec.structs.replace(part.tool, arguments=arguments))


def _resolve(value: Any, request: ModelRequest) -> Any:
    if isinstance(value, dict):
        return {key: _resolve(item, request) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_resolve(item, request) for item in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    quote = _QUOTE.fullmatch(value)
    if quote is not None:
        return _read_field(quote, request)
    start = find_turn_start(request)
    return value.replace(_INPUT, read_input(request.messages[start])) if start >= 0 else value


def _read_field(quote: re.Match[str], request: ModelRequest) -> Any:
    results = _list_results(quote["tool"], request)
    try:
        result: dict[str, Any] = msgspec.json.decode(results[int(quote["number"])].text, type=dict[str, Any])
        # Scenarios of earlier versions use camelCase names.
        return result[quote["field"] if quote["field"] in result else to_snake_case(quote["field"])]
    except (IndexError, KeyError, msgspec.MsgspecError):
        message = f"The scenario quotes {quote[0]}, but the conversation has no such result."
        raise ModelFailure("model_refused_request", message, retryable=False) from None


def _list_results(tool: str, request: ModelRequest) -> list[ToolResultContent]:
    return [
        part
        for message in request.messages
        for part in message.content
        if isinstance(part, ToolResultContent) and part.tool == to_stored_name(tool)
    ]
