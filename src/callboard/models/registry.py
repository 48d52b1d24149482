"""The models that are configured, and which of them a run asks."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Model, Route

from .book import Book, Pair
from .scripted import PROVIDER
from .settings import ModelSettings, ProviderSettings
from .wire import WireModel
from .wire.model import Reveal

__all__ = ["ConfiguredModels", "ModelSettings", "ProviderSettings"]


def _as_it_is(text: str) -> str:
    return text


class ConfiguredModels:
    """The models of the settings; the search where there are none. `reveal` puts keys in place of handles, when a model is
    asked first. Raises Refusal `bad_settings`, `bad_scenario` and `bad_recording`."""

    def __init__(self, settings: ModelSettings, reveal: Reveal = _as_it_is) -> None:
        self._reveal = reveal
        self._book = Book(settings, reveal, {})
        self._former: dict[Pair, Model] = {}
        self._wires: set[WireModel] = set()

    @property
    def settings(self) -> ModelSettings:
        """What is configured."""
        return self._book.settings

    def configure(self, settings: ModelSettings) -> None:
        """Replaces what is configured. A run under way goes on with its model, also where that is configured no more.

        Raises Refusal `bad_settings`, `bad_scenario` and `bad_recording`, and then nothing is replaced.
        """
        former = self._book
        self._book = Book(settings, self._reveal, former.wires)
        self._former = {**self._former, **former.models, **{pair: one for pair, (_, one) in former.wires.items()}}
        self._wires |= {one for _, one in former.wires.values()}

    def why_keyless(self, provider: str) -> str:
        """Why the provider cannot be asked for want of its key; empty where it can, or is none. Blocking: a keyring may be
        asked."""
        found = next((one for one in self.settings.providers if one.name == provider), None)
        if found is None or found.missing:
            return "" if found is None else found.missing
        try:
            self._reveal(found.api_key)
        except Refusal as refusal:
            return refusal.problem.message
        return ""

    def route(self, wanted: str) -> Route:
        """The route for an agent that wants this model: `MODEL`, `PROVIDER/MODEL`, or empty for the default.

        A provider that is configured is asked for any model by its name; a wanted model that nobody has, and one that cannot
        be asked, is told in the reason.
        """
        book = self._book
        candidates = tuple(book.models)
        found = book.named(wanted)
        if found is not None:
            reason = "The agent asks for it."
        elif book.default is not None:
            found, reason = book.default, "It is the default."
        else:
            found, reason = candidates[0], "It is the first that is configured."
        if found not in candidates:
            candidates = (*candidates, found)
        if book.why_not(found):
            found, reason = self._instead(found, candidates, reason)
        if book.offline and found in book.models:
            reason = "No model is configured."
        elif len(candidates) == 1:
            reason = "It is the only model that is configured."
        if wanted and book.named(wanted) is None:
            reason = f"{wanted!r}, which the agent asks for, is not configured. {reason}"
        # What plays for a demo is not made up for by a model that costs something.
        plays = found[0] == PROVIDER and found not in book.models
        chain = [] if plays else [pair for pair in dict.fromkeys(book.fallback) if pair != found]
        candidates = (*candidates, *(pair for pair in chain if pair not in candidates))
        return Route(
            candidates=candidates,
            chosen=candidates.index(found),
            reason=reason,
            fallbacks=tuple(candidates.index(pair) for pair in chain if not book.why_not(pair)),
            excluded=tuple(book.why_not(pair) for pair in candidates) if any(map(book.why_not, candidates)) else (),
        )

    def model(self, provider: str, name: str) -> Model:
        """The model of a route. Raises Refusal `model_unconfigured`, `bad_scenario`."""
        found = self._book.model(provider, name) or self._former.get((provider, name))
        if found is None:
            raise Refusal(
                "model_unconfigured",
                f"The model {name!r} of {provider!r} is not configured any more.",
                hint="Configure it again, or send the turn again with a model that is.",
            )
        return found

    async def warm(self, wanted: Pair | None = None) -> None:
        """Loads what the first call of a model needs, off the event loop; the default one where none is named. Sends nothing.

        Raises Refusal where it cannot be asked."""
        route = self.route("")
        model = self.model(*(wanted or route.candidates[route.chosen]))
        if isinstance(model, WireModel):
            await model.warm()

    async def close(self) -> None:
        """Closes the connections of all providers."""
        for model in {*self._wires, *(one for _, one in self._book.wires.values())}:
            await model.close()

    def _instead(self, found: Pair, candidates: tuple[Pair, ...], reason: str) -> tuple[Pair, str]:
        """Another model in place of one that cannot be asked; that one still, where none can."""
        book = self._book
        why = book.why_not(found)
        other = next((pair for pair in (*book.fallback, *candidates) if not book.why_not(pair)), None)
        if other is None:
            return found, reason
        return other, f"{'/'.join(found)} cannot be asked: {why} It is the next that can."
