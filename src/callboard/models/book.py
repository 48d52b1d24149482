"""The models of one configuration. Another configuration is another book."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import assert_never
from urllib.parse import urlsplit

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Model

from .offline import Offline
from .recorded import Recorded
from .scripted import PROVIDER, Scripted
from .settings import ModelSettings, ProviderSettings
from .wire import Endpoint, Format, WireModel
from .wire.model import Reveal

Pair = tuple[str, str]


class Book:
    """Raises Refusal `bad_settings`, `bad_scenario` and `bad_recording`. What `kept` holds of the same endpoint is taken over,
    with its connections."""

    def __init__(
        self, settings: ModelSettings, reveal: Reveal, kept: Mapping[Pair, tuple[Endpoint, WireModel]]
    ) -> None:
        self.settings = settings
        self.models: dict[Pair, Model] = {}
        self.wires: dict[Pair, tuple[Endpoint, WireModel]] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._missing: dict[str, str] = {}
        self._played: dict[str, Scripted] = {}
        self._reveal = reveal
        self._kept = kept
        for index, provider in enumerate(settings.providers):
            self._add_provider(provider, f"providers[{index}]")
        self.offline = not self.models
        if self.offline:
            self._add(Offline())
        self.default = self.named(settings.default)
        if settings.default and self.default is None and not self.offline:
            raise _bad(f"The default model {settings.default!r} is not among the models.", "default")
        self.fallback = tuple(self._fallback(name, index) for index, name in enumerate(settings.fallback))

    def named(self, wanted: str) -> Pair | None:
        """The model that is meant: `MODEL`, `PROVIDER/MODEL`, any model of a provider that is configured."""
        found = next((pair for pair in self.models if pair[1] == wanted or "/".join(pair) == wanted), None)
        provider, _, name = wanted.partition("/")
        if found is None and provider == PROVIDER and name in self.settings.scenarios:
            return PROVIDER, name
        return found or ((provider, name) if provider in self._endpoints and name else None)

    def model(self, provider: str, name: str) -> Model | None:
        """The model of a route; None where it is not configured. Raises Refusal `bad_scenario`."""
        known = self.models.get((provider, name))
        if known is not None:
            return known
        if provider == PROVIDER and name in self.settings.scenarios:
            if name not in self._played:
                self._played[name] = Scripted.from_file(self.settings.scenarios[name], pace=self.settings.pace)
            return self._played[name]
        endpoint = self._endpoints.get(provider)
        # Kept apart from the candidates: these are what is configured, not what was once asked for.
        return self._wire(endpoint, name) if endpoint is not None else None

    def why_not(self, pair: Pair) -> str:
        """Why the model cannot be asked, in words; empty where it can."""
        return self._missing.get(pair[0], "")

    def _add_provider(self, provider: ProviderSettings, field: str) -> None:
        if not provider.name or provider.name in {name for name, _ in self.models}:
            raise _bad("Each provider needs a name of its own.", f"{field}.name")
        match provider.kind:
            case "scripted":
                self._add(Scripted.from_file(Path(provider.scenario), provider.name))
            case "recorded":
                self._add(Recorded.from_file(Path(provider.recording), provider.name))
            case "openai-compatible" | "openai" | "anthropic" | "google":
                endpoint = _endpoint(provider, provider.kind, field)
                self._endpoints[provider.name] = endpoint
                for name in provider.models:
                    self._add(self._wire(endpoint, name))
            case _:
                assert_never(provider.kind)
        if provider.missing:
            self._missing[provider.name] = provider.missing

    def _wire(self, endpoint: Endpoint, name: str) -> WireModel:
        pair = endpoint.provider, name
        known = self.wires.get(pair) or self._kept.get(pair)
        if known is None or known[0] != endpoint:
            known = endpoint, WireModel(endpoint, name, self._reveal)
        self.wires[pair] = known
        return known[1]

    def _fallback(self, name: str, index: int) -> Pair:
        found = next((pair for pair in self.models if pair[0] == name), None) or self.named(name)
        if found is None:
            raise _bad(f"The fallback {name!r} is not among the models.", f"fallback[{index}]")
        return found

    def _add(self, model: Model) -> None:
        self.models[model.provider, model.name] = model


def _endpoint(provider: ProviderSettings, format: Format, field: str) -> Endpoint:
    url = urlsplit(provider.base_url)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise _bad(f"{provider.base_url!r} is no address such as http://localhost:11434/v1.", f"{field}.base_url")
    if not provider.models or "" in provider.models:
        raise _bad(f"Name at least one model of {provider.name!r}.", f"{field}.models")
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


def _bad(message: str, field: str) -> Refusal:
    return Refusal("bad_settings", message, field=field)
