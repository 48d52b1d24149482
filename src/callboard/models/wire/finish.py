"""How answers end: the words of the wire formats, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic_ai.messages import FinishReason

from callboard.contracts.facts.model import StopReason

from .endpoint import Endpoint, Format
from .failures import cut, ended_badly

#: `failed`: the provider gave the answer up. `garbled`: the model wrote a call that the provider could not read.
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
#: What each provider's word means, by wire format. A word that is not listed reads `unknown`, and the turn shows it.
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
#: Characters of a provider's word that are kept.
_LONGEST: Final = 100


def read_ending(
    endpoint: Endpoint, reason: FinishReason | None, details: Mapping[str, Any], *, called: bool
) -> tuple[StopReason, str]:
    """Return how the answer ended, and the provider's own word for it.

    Args:
        reason: The library's reading, for an ending without a word, such as a refusal.
        details: What the library kept of the provider's answer.
        called: Whether the answer asks for tools. Some servers say "stop" of such an answer, or an unlisted word.
    Returns:
        The stop reason and the word; the word is empty where the provider sent none.
    Raises:
        ModelFailure: The answer has no ending, or the provider gave it up.
    """
    found = details.get("finish_reason")
    word = endpoint.redact(found)[:_LONGEST] if isinstance(found, str) else ""
    if not word and reason is None:
        raise cut(endpoint, "the stream ended before the answer did")
    listed = ENDINGS[endpoint.format].get(word)
    # The library alone sees a refusal, and other words for what went wrong.
    read: Ending = listed or (_OF_LIBRARY[reason] if reason is not None else "unknown")
    if reason == "content_filter" and read in {"stop", "unknown"}:
        read = "content_filter"
    if read == "failed":
        raise ended_badly(endpoint, word or "an error")
    if read == "garbled":
        raise ended_badly(endpoint, word, code="model_garbled")
    return ("tool_calls" if called and read in {"stop", "unknown"} else read), word
