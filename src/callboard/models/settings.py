"""What is configured, in the words of this room. The keys in it are handles or are resolved, and are shown nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from callboard.contracts.settings import Price, Reasoning

from .wire import Format

Kind = Format | Literal["scripted", "recorded"]


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider. `name` is how it is called in facts and by agents, and is there once.

    Of the kinds that are formats: `base_url` is the provider's address, `api_key` the key or its handle or empty, `models` the
    names to offer, at least one; `idle_timeout` is in seconds. `missing` says in words why it cannot be asked, such as a key
    that is not there; empty where it can. Of kind `scripted`: `scenario` is the path of its file, and its one model is named
    after it. Of kind `recorded`: `recording` is the path of a pack of evidence.
    """

    name: str
    kind: Kind = "openai-compatible"
    base_url: str = ""
    api_key: str = ""
    models: tuple[str, ...] = ()
    idle_timeout: float = 300.0
    window: int | None = None
    images: bool | None = None
    price: Price | None = None
    reasoning: Reasoning | None = None
    missing: str = ""
    scenario: str = ""
    recording: str = ""

    def __repr__(self) -> str:
        return f"ProviderSettings(name={self.name!r}, kind={self.kind!r}, models={self.models!r})"


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is configured, in order of preference. `default` is the model (`MODEL` or `PROVIDER/MODEL`) for agents that want
    none in particular; without it, the first one. `fallback` names those that are asked, in that order, where the chosen one
    fails for good: a provider's name, `MODEL` or `PROVIDER/MODEL`. `scenarios` are files by name that are played for agents
    that want `scripted/NAME` and offered to nobody; their waits are multiplied by `pace`."""

    providers: tuple[ProviderSettings, ...] = ()
    default: str = ""
    fallback: tuple[str, ...] = ()
    scenarios: Mapping[str, Path] = {}
    pace: float = 1.0
