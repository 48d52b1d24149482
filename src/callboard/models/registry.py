"""The models that are configured, and which of them a run asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, assert_never
from urllib.parse import urlsplit

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Model, Route

from .offline import Offline
from .openai_compatible import OpenAICompatible
from .openai_compatible.endpoint import Endpoint
from .scripted import PROVIDER, Scripted

Kind = Literal["openai_compatible", "scripted"]


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider. `name` is how it is called in facts and by agents, and is there once.

    Of kind `openai_compatible`: `base_url` is what stands before `/chat/completions`, `api_key` the key itself (already
    resolved where it was a handle) or empty, `models` the names to offer, at least one; `idle_timeout` is in seconds. Of kind
    `scripted`: `scenario` is the path of its file, and its one model is named after it.
    """

    name: str
    kind: Kind = "openai_compatible"
    base_url: str = ""
    api_key: str = ""
    models: tuple[str, ...] = ()
    idle_timeout: float = 300.0
    scenario: str = ""

    def __repr__(self) -> str:
        return f"ProviderSettings(name={self.name!r}, kind={self.kind!r}, models={self.models!r})"


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is configured, in order of preference. `default` is the model (`MODEL` or `PROVIDER/MODEL`) for agents that want
    none in particular; without it, the first one. `scenarios` are files by name that are played for agents that want
    `scripted/NAME` and offered to nobody; their waits are multiplied by `pace`."""

    providers: tuple[ProviderSettings, ...] = ()
    default: str = ""
    scenarios: Mapping[str, Path] = {}
    pace: float = 1.0


class ConfiguredModels:
    """The models of the settings; the search where there are none. Raises Refusal `bad_settings` and `bad_scenario`."""

    def __init__(self, settings: ModelSettings) -> None:
        self._models: dict[tuple[str, str], Model] = {}
        self._asked: dict[tuple[str, str], OpenAICompatible] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._scenarios, self._pace = settings.scenarios, settings.pace
        self._played: dict[str, Scripted] = {}
        for index, provider in enumerate(settings.providers):
            field = f"providers[{index}]"
            if not provider.name or provider.name in {name for name, _ in self._models}:
                raise _bad("Each provider needs a name of its own.", f"{field}.name")
            match provider.kind:
                case "openai_compatible":
                    self._add_endpoint(provider, field)
                case "scripted":
                    self._add(Scripted.from_file(Path(provider.scenario), provider.name))
                case _:
                    assert_never(provider.kind)
        self._offline = not self._models
        if self._offline:
            self._add(Offline())
        self._default = self._named(settings.default)
        if settings.default and self._default is None and not self._offline:
            raise _bad(f"The default model {settings.default!r} is not among the models.", "default")

    def route(self, wanted: str) -> Route:
        """The route for an agent that wants this model: `MODEL`, `PROVIDER/MODEL`, or empty for the default.

        A provider that is configured is asked for any model by its name; a wanted model that nobody has is told in the reason.
        """
        candidates = tuple(self._models)
        found = self._named(wanted)
        if found is not None:
            reason = "The agent asks for it."
        elif self._default is not None:
            found, reason = self._default, "It is the default."
        else:
            found, reason = candidates[0], "It is the first that is configured."
        if found not in candidates:
            candidates = (*candidates, found)
        if self._offline and found in self._models:
            reason = "No model is configured."
        elif len(candidates) == 1:
            reason = "It is the only model that is configured."
        if wanted and self._named(wanted) is None:
            reason = f"{wanted!r}, which the agent asks for, is not configured. {reason}"
        return Route(candidates=candidates, chosen=candidates.index(found), reason=reason)

    def model(self, provider: str, name: str) -> Model:
        """The model of a route. Raises Refusal `model_unconfigured`, `bad_scenario`."""
        known = self._models.get((provider, name))
        if known is not None:
            return known
        if provider == PROVIDER and name in self._scenarios:
            if name not in self._played:
                self._played[name] = Scripted.from_file(self._scenarios[name], pace=self._pace)
            return self._played[name]
        if provider not in self._endpoints:
            raise Refusal(
                "model_unconfigured",
                f"The model {name!r} of {provider!r} is not configured any more.",
                hint="Configure it again, or send the turn again with a model that is.",
            )
        # Kept apart from the candidates: these are what is configured, not what was once asked for.
        return self._asked.setdefault((provider, name), OpenAICompatible(self._endpoints[provider], name))

    async def warm(self) -> None:
        """Loads what the first call of the default model needs, off the event loop. Sends nothing."""
        route = self.route("")
        model = self.model(*route.candidates[route.chosen])
        if isinstance(model, OpenAICompatible):
            await model.warm()

    async def close(self) -> None:
        """Closes the connections of all providers."""
        for model in (*self._models.values(), *self._asked.values()):
            if isinstance(model, OpenAICompatible):
                await model.close()

    def _add_endpoint(self, provider: ProviderSettings, field: str) -> None:
        url = urlsplit(provider.base_url)
        if url.scheme not in {"http", "https"} or not url.hostname:
            raise _bad(f"{provider.base_url!r} is no address such as http://localhost:11434/v1.", f"{field}.base_url")
        if not provider.models or "" in provider.models:
            raise _bad(f"Name at least one model of {provider.name!r}.", f"{field}.models")
        endpoint = self._endpoints[provider.name] = Endpoint(
            provider=provider.name,
            base_url=provider.base_url,
            api_key=provider.api_key,
            idle_timeout=provider.idle_timeout,
        )
        for name in provider.models:
            self._add(OpenAICompatible(endpoint, name))

    def _add(self, model: Model) -> None:
        self._models[model.provider, model.name] = model

    def _named(self, wanted: str) -> tuple[str, str] | None:
        named = next((pair for pair in self._models if pair[1] == wanted or "/".join(pair) == wanted), None)
        provider, _, name = wanted.partition("/")
        if named is None and provider == PROVIDER and name in self._scenarios:
            return PROVIDER, name
        return named or ((provider, name) if provider in self._endpoints and name else None)


def _bad(message: str, field: str) -> Refusal:
    return Refusal("bad_settings", message, field=field)
