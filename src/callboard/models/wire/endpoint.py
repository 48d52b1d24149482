"""Where a provider is, how it is spoken to and how long it may be silent."""

from __future__ import annotations

import json
from typing import Literal

import msgspec

from callboard.contracts.settings import Price, Reasoning

#: The formats that providers speak: chat completions, Responses, Messages and generateContent.
Format = Literal["openai-compatible", "openai", "anthropic", "google"]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A provider at an address, such as `http://localhost:11434/v1`. What is appended to `base_url` is the format's affair.

    `api_key` may be empty where the server asks for none, and a handle until the endpoint is opened. Times are in seconds:
    `idle_timeout` is the longest silence on the connection, before the first byte or between two, that is not yet a
    failure. `images` is None where the format's usual answer holds, `reasoning` where the model's own does.
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
        """The text without the key, which some servers repeat, and libraries as they quote what they cannot send."""
        bare = self.api_key.strip()
        written = {self.api_key, bare, repr(bare)[1:-1], repr(bare.encode())[2:-1], json.dumps(bare)[1:-1]}
        for key in sorted(written, key=len, reverse=True):
            text = text.replace(key, "[key]") if key else text
        return text
