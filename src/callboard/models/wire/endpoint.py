"""Address, format, key and timeouts of a provider."""

from __future__ import annotations

import json
from typing import Literal

import msgspec

from callboard.contracts.settings import Price, Reasoning

#: The wire formats of providers: chat completions, Responses, Messages and generateContent.
Format = Literal["openai-compatible", "openai", "anthropic", "google"]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A provider.

    Attributes:
        base_url: Address without the path of the format, such as `http://localhost:11434/v1`.
        api_key: The key, or its handle until the endpoint is opened; empty if the server needs none.
        idle_timeout: The longest silence on the connection, in seconds, before the call fails.
        connect_timeout: Time limit for connecting, in seconds.
        window: Context window in tokens; None if unknown.
        images: Whether models accept images; None for the default of the format.
        reasoning: Reasoning effort; None for the default of the model.
    """

    provider: str
    base_url: str
    format: Format = "openai-compatible"
    api_key: str = ""
    idle_timeout: float = 300.0
    connect_timeout: float = 10.0
    window: int | None = None
    images: bool | None = None
    price: Price | None = None
    reasoning: Reasoning | None = None

    def __repr__(self) -> str:
        return f"Endpoint(provider={self.provider!r}, base_url={self.base_url!r})"

    def redact(self, text: str) -> str:
        """Remove the key from a text. Servers repeat it in errors, and libraries quote headers that they cannot send."""
        bare = self.api_key.strip()
        forms = {self.api_key, bare, repr(bare)[1:-1], repr(bare.encode())[2:-1], json.dumps(bare)[1:-1]}
        for key in sorted(forms, key=len, reverse=True):
            text = text.replace(key, "[key]") if key else text
        return text
