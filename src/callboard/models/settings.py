"""Settings of models. API keys in them are handles or resolved values, and are never displayed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from callboard.contracts.settings import Price, Reasoning

from .wire import Format

Kind = Format | Literal["scripted", "recorded"]


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a provider.

    Attributes:
        name: Unique name in facts and definitions.
        base_url: Address of the provider, for kinds that are formats.
        api_key: The key or its handle; empty if the provider needs none.
        models: Names of the offered models, at least one for kinds that are formats.
        idle_timeout: The longest silence of a stream, in seconds.
        missing: Why the provider is unavailable, such as a missing key; empty if it is available.
        scenario: Path of the file, for the kind `scripted`. Its one model has the name of the scenario.
        recording: Path of the evidence pack, for the kind `recorded`.
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
    """Settings of all models.

    Attributes:
        providers: The providers in order of preference.
        default: Model of agents that name none, as `MODEL` or `PROVIDER/MODEL`. Default: the first one.
        fallback: Models to try in order after a final failure, as provider, `MODEL` or `PROVIDER/MODEL`.
        scenarios: Files by name for agents with the model `scripted/NAME`. They are not listed as models.
        pace: Factor of all waits in `scenarios`.
    """

    providers: tuple[ProviderSettings, ...] = ()
    default: str = ""
    fallback: tuple[str, ...] = ()
    scenarios: Mapping[str, Path] = {}
    pace: float = 1.0
