"""Where a provider is and how long it may be silent."""

from __future__ import annotations

import msgspec


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An OpenAI-compatible endpoint. `base_url` is what stands before `/chat/completions`, such as `http://localhost:11434/v1`.

    `api_key` may be empty where the server asks for none. Times are in seconds: `idle_timeout` is the longest silence
    on the connection, before the first byte or between two, that is not yet a failure.
    """

    provider: str
    base_url: str
    api_key: str = ""
    idle_timeout: float = 300.0
    connect_timeout: float = 10.0

    def __repr__(self) -> str:
        return f"Endpoint(provider={self.provider!r}, base_url={self.base_url!r})"

    def redact(self, text: str) -> str:
        """The text without the key, which some servers repeat in their errors."""
        return text.replace(self.api_key, "[key]") if self.api_key else text
