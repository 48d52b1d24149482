"""Configured models, and the route of a run to one of them."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Model, Route

from .configuration import ModelConfiguration, Pair
from .scenario_player import PROVIDER
from .settings import ModelSettings, ProviderSettings
from .wire import WireModel
from .wire.model import Reveal

__all__ = ["ConfiguredModels", "ModelSettings", "ProviderSettings"]


def _return_unchanged(text: str) -> str:
    return text


class ConfiguredModels:
    """The models of the settings, or the offline search if there are none.

    Args:
        reveal: Replaces the handle of a secret with its value, at the first call of a model.
    Raises:
        Refusal: `bad_settings`, `bad_scenario` or `bad_recording`.
    """

    def __init__(self, settings: ModelSettings, reveal: Reveal = _return_unchanged) -> None:
        self._reveal = reveal
        self._configuration = ModelConfiguration(settings, reveal, {})
        self._former: dict[Pair, Model] = {}
        self._wires: set[WireModel] = set()

    @property
    def settings(self) -> ModelSettings:
        """The current settings."""
        return self._configuration.settings

    def configure(self, settings: ModelSettings) -> None:
        """Replace the settings. A running run keeps its model, even if it is no longer configured.

        Raises:
            Refusal: `bad_settings`, `bad_scenario` or `bad_recording`. The settings then stay unchanged.
        """
        former = self._configuration
        self._configuration = ModelConfiguration(settings, self._reveal, former.wires)
        self._former = {**self._former, **former.models, **{pair: model for pair, (_, model) in former.wires.items()}}
        self._wires |= {model for _, model in former.wires.values()}

    def explain_missing_key(self, provider: str) -> str:
        """Return why the provider's key is unavailable; empty if it is available or the provider is unknown.

        Blocking: it may query a keyring.
        """
        settings = next((settings for settings in self.settings.providers if settings.name == provider), None)
        if settings is None or settings.missing:
            return "" if settings is None else settings.missing
        try:
            self._reveal(settings.api_key)
        except Refusal as refusal:
            return refusal.problem.message
        return ""

    def choose_route(self, wanted: str) -> Route:
        """Return the route for an agent.

        Args:
            wanted: `MODEL`, `PROVIDER/MODEL` (any model of a configured provider), or empty for the default. The route's
                reason states if the wanted model is not configured or unavailable.
        """
        configuration = self._configuration
        candidates = tuple(configuration.models)
        chosen = configuration.find_named(wanted)
        if chosen is not None:
            reason = "The agent names this model."
        elif configuration.default is not None:
            chosen, reason = configuration.default, "It is the default."
        else:
            chosen, reason = candidates[0], "It is the first configured model."
        if chosen not in candidates:
            candidates = (*candidates, chosen)
        if configuration.explain_unavailable(chosen):
            chosen, reason = self._replace_unavailable(chosen, candidates, reason)
        if configuration.offline and chosen in configuration.models:
            reason = "No model is configured."
        elif len(candidates) == 1:
            reason = "It is the only configured model."
        if wanted and configuration.find_named(wanted) is None:
            reason = f"The agent names {wanted!r}, which is not configured. {reason}"
        # A model that may cost money must not replace the scenario of a demo.
        is_scenario = chosen[0] == PROVIDER and chosen not in configuration.models
        chain = [] if is_scenario else [pair for pair in dict.fromkeys(configuration.fallback) if pair != chosen]
        candidates = (*candidates, *(pair for pair in chain if pair not in candidates))
        reasons = tuple(map(configuration.explain_unavailable, candidates))
        return Route(
            candidates=candidates,
            chosen=candidates.index(chosen),
            reason=reason,
            fallbacks=tuple(candidates.index(pair) for pair in chain if not configuration.explain_unavailable(pair)),
            excluded=reasons if any(reasons) else (),
        )

    def get_model(self, provider: str, name: str) -> Model:
        """Return the model of a route. Raises Refusal `model_unconfigured` or `bad_scenario`."""
        model = self._configuration.get_model(provider, name) or self._former.get((provider, name))
        if model is None:
            raise Refusal(
                "model_unconfigured",
                f"The model {name!r} of {provider!r} is no longer configured.",
                hint="Configure it again, or send the turn again with a configured model.",
            )
        return model

    async def warm(self, wanted: Pair | None = None) -> None:
        """Load what the first call of a model needs, off the event loop, without sending a request.

        Args:
            wanted: Provider and name of the model. Default: the default model.
        Raises:
            Refusal: The model is unavailable.
        """
        route = self.choose_route("")
        model = self.get_model(*(wanted or route.candidates[route.chosen]))
        if isinstance(model, WireModel):
            await model.warm()

    async def close(self) -> None:
        """Close the connections of all providers."""
        for wire in {*self._wires, *(current for _, current in self._configuration.wires.values())}:
            await wire.close()

    def _replace_unavailable(self, chosen: Pair, candidates: tuple[Pair, ...], reason: str) -> tuple[Pair, str]:
        """Return an available model in place of an unavailable one, with the reason; the same model if none is available."""
        configuration = self._configuration
        other = next(
            (pair for pair in (*configuration.fallback, *candidates) if not configuration.explain_unavailable(pair)),
            None,
        )
        if other is None:
            return chosen, reason
        unavailable = configuration.explain_unavailable(chosen)
        return other, f"{'/'.join(chosen)} is unavailable: {unavailable} It is the next available model."
