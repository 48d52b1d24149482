"""Stop reasons of the wire formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic_ai.messages import FinishReason

from callboard.contracts.facts.model import StopReason

from .endpoint import Endpoint, Format
from .failures import build_aborted_failure, build_truncated_failure

#: `failed`: the provider aborted the response. `garbled`: the provider could not parse a call of the model.
Ending = StopReason | Literal["failed", "garbled"]

_CHAT: Final[Mapping[str, Ending]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "error": "failed",
    "abort": "failed",
    "insufficient_system_resource": "failed",
}
_RESPONSES: Final[Mapping[str, Ending]] = {
    "completed": "stop",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "failed": "failed",
}
_MESSAGES: Final[Mapping[str, Ending]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_GENERATE_CONTENT: Final[Mapping[str, Ending]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "MALFORMED_FUNCTION_CALL": "garbled",
    "UNEXPECTED_TOOL_CALL": "garbled",
}
#: The meaning of each stop reason by wire format. Others become `unknown`, and the turn shows the provider's text.
ENDINGS: Final[Mapping[Format, Mapping[str, Ending]]] = {
    "openai-compatible": _CHAT,
    "openai": _RESPONSES,
    "anthropic": _MESSAGES,
    "google": _GENERATE_CONTENT,
}
_OF_LIBRARY: Final[Mapping[FinishReason, Ending]] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "error": "failed",
}
#: The longest stored text of a provider's stop reason, in characters.
_MAX_REASON_CHARS: Final = 100


def read_ending(
    endpoint: Endpoint, reason: FinishReason | None, details: Mapping[str, Any], *, called: bool
) -> tuple[StopReason, str]:
    """Return the stop reason of a response, and the provider's text for it.

    Args:
        reason: The library's stop reason, for endings without a text such as a refusal.
        details: The library's data of the provider's response.
        called: Whether the response has tool calls. Some servers send "stop" or an unlisted text for such responses.
    Returns:
        The stop reason and the provider's text; the text is empty if the provider sent none.
    Raises:
        ModelFailure: The response has no stop reason, or the provider aborted it.
    """
    sent = details.get("finish_reason")
    word = endpoint.redact(sent)[:_MAX_REASON_CHARS] if isinstance(sent, str) else ""
    if not word and reason is None:
        raise build_truncated_failure(endpoint, "the stream ended before the response did")
    listed = ENDINGS[endpoint.format].get(word)
    # Only the library reports refusals, and some errors.
    read: Ending = listed or (_OF_LIBRARY[reason] if reason is not None else "unknown")
    if reason == "content_filter" and read in {"stop", "unknown"}:
        read = "content_filter"
    if read == "failed":
        raise build_aborted_failure(endpoint, word or "an error")
    if read == "garbled":
        raise build_aborted_failure(endpoint, word, code="model_garbled")
    return ("tool_calls" if called and read in {"stop", "unknown"} else read), word
