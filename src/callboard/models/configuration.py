"""Models of one configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import assert_never
from urllib.parse import urlsplit

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Model
from callboard.contracts.settings import SettingsProblemCode

from .offline import Offline
from .recording_player import RecordingPlayer
from .scenario_player import PROVIDER, ScenarioPlayer
from .settings import ModelSettings, ProviderSettings
from .wire import Endpoint, Format, WireModel
from .wire.model import Reveal

Pair = tuple[str, str]


class ModelConfiguration:
    """The models of one configuration.

    Args:
        reveal: Replaces the handle of a secret with its value.
        reusable: Models of the former configuration. A model with an unchanged endpoint is reused, with its connections.
    Raises:
        Refusal: `bad_settings`, `bad_scenario` or `bad_recording`.
    """

    def __init__(
        self, settings: ModelSettings, reveal: Reveal, reusable: Mapping[Pair, tuple[Endpoint, WireModel]]
    ) -> None:
        self.settings = settings
        self.models: dict[Pair, Model] = {}
        self.wires: dict[Pair, tuple[Endpoint, WireModel]] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._missing: dict[str, str] = {}
        self._played: dict[str, ScenarioPlayer] = {}
        self._reveal = reveal
        self._reusable = reusable
        for index, provider in enumerate(settings.providers):
            self._add_provider(provider, f"providers[{index}]")
        self.offline = not self.models
        if self.offline:
            self._add(Offline())
        self.default = self.find_named(settings.default)
        if settings.default and self.default is None and not self.offline:
            raise _build_refusal(
                f"The default model {settings.default!r} is not configured.",
                "default",
                "model_unconfigured",
                name=settings.default,
            )
        self.fallback = tuple(self._resolve_fallback(name, index) for index, name in enumerate(settings.fallback))

    def find_named(self, wanted: str) -> Pair | None:
        """Return the model of a name: `MODEL`, `PROVIDER/MODEL`, or any model of a configured provider."""
        configured = next((pair for pair in self.models if pair[1] == wanted or "/".join(pair) == wanted), None)
        provider, _, name = wanted.partition("/")
        if configured is None and provider == PROVIDER and name in self.settings.scenarios:
            return PROVIDER, name
        return configured or ((provider, name) if provider in self._endpoints and name else None)

    def get_model(self, provider: str, name: str) -> Model | None:
        """Return the model of a route; None if it is not configured. Raises Refusal `bad_scenario`."""
        configured = self.models.get((provider, name))
        if configured is not None:
            return configured
        if provider == PROVIDER and name in self.settings.scenarios:
            if name not in self._played:
                self._played[name] = ScenarioPlayer.from_file(self.settings.scenarios[name], pace=self.settings.pace)
            return self._played[name]
        endpoint = self._endpoints.get(provider)
        # Not added to `models`: these are the configured ones, not the ones that an agent named once.
        return self._build_wire(endpoint, name) if endpoint is not None else None

    def explain_unavailable(self, pair: Pair) -> str:
        """Return why the model is unavailable; empty if it is available."""
        return self._missing.get(pair[0], "")

    def _add_provider(self, provider: ProviderSettings, field: str) -> None:
        if not provider.name or provider.name in {name for name, _ in self.models}:
            raise _build_refusal(
                "Each provider needs a unique name.", f"{field}.name", "duplicate_name", name=provider.name
            )
        match provider.kind:
            case "scripted":
                self._add(ScenarioPlayer.from_file(Path(provider.scenario), provider.name))
            case "recorded":
                self._add(RecordingPlayer.from_file(Path(provider.recording), provider.name))
            case "openai-compatible" | "openai" | "anthropic" | "google":
                endpoint = _build_endpoint(provider, provider.kind, field)
                self._endpoints[provider.name] = endpoint
                for name in provider.models:
                    self._add(self._build_wire(endpoint, name))
            case _:
                assert_never(provider.kind)
        if provider.missing:
            self._missing[provider.name] = provider.missing

    def _build_wire(self, endpoint: Endpoint, name: str) -> WireModel:
        pair = endpoint.provider, name
        wire = self.wires.get(pair) or self._reusable.get(pair)
        if wire is None or wire[0] != endpoint:
            wire = endpoint, WireModel(endpoint, name, self._reveal)
        self.wires[pair] = wire
        return wire[1]

    def _resolve_fallback(self, name: str, index: int) -> Pair:
        pair = next((pair for pair in self.models if pair[0] == name), None) or self.find_named(name)
        if pair is None:
            message = f"The fallback {name!r} is not configured."
            raise _build_refusal(message, f"fallback[{index}]", "model_unconfigured", name=name)
        return pair

    def _add(self, model: Model) -> None:
        self.models[model.provider, model.name] = model


def _build_endpoint(provider: ProviderSettings, format: Format, field: str) -> Endpoint:
    url = urlsplit(provider.base_url)
    if url.scheme not in {"http", "https"} or not url.hostname:
        message = f"Invalid address {provider.base_url!r}. Example: http://localhost:11434/v1."
        raise _build_refusal(message, f"{field}.base_url", "invalid_url")
    if not provider.models or "" in provider.models:
        message = f"Name at least one model of {provider.name!r}."
        raise _build_refusal(message, f"{field}.models", "model_name_missing", name=provider.name)
    return Endpoint(
        provider=provider.name,
        base_url=provider.base_url,
        format=format,
        api_key=provider.api_key,
        idle_timeout=provider.idle_timeout,
        window=provider.window,
        images=provider.images,
        price=provider.price,
        reasoning=provider.reasoning,
    )


def _build_refusal(message: str, field: str, code: SettingsProblemCode, **parameters: str) -> Refusal:
    return Refusal("bad_settings", message, field=field, reason=code, parameters=parameters)
