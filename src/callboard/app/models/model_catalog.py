"""What a person is told of models: what is configured, what is found beside it, and what comes of asking one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from callboard.contracts.commands.model import ConfiguredModel, ModelList, ModelTested
from callboard.contracts.errors import Code, Problem, Refusal
from callboard.contracts.ports.model import (
    Finished,
    ModelEvent,
    ModelFailure,
    ModelMessage,
    ModelRequest,
    TextContent,
    TextDelta,
)
from callboard.control.decide.model import HINTS
from callboard.models.registry import ConfiguredModels
from callboard.models.settings import ProviderSettings

from .discovery import MODEL_SERVERS, ModelServer, discover_models

#: How long a model may take to answer the question in all, in seconds.
PATIENCE_S = 90.0
_QUESTION = "Answer with the one word: ready"
_LONGEST_TEXT = 500

Pair = tuple[str, str]


class ModelCatalog:
    """Implements the port `ModelDesk`. `places` is where model servers of this machine are looked for."""

    def __init__(
        self, models: ConfiguredModels, environment: Mapping[str, str], places: tuple[ModelServer, ...] = MODEL_SERVERS
    ) -> None:
        self._models = models
        self._environment = environment
        self._places = places

    async def listed(self) -> ModelList:
        """What is configured and what is found beside it."""
        settings = self._models.settings
        beside = await discover_models(self._environment, settings.providers, self._places)
        route = self._models.route("")
        default = route.candidates[route.chosen]
        chain = [route.candidates[index] for index in route.fallbacks]
        of_provider = {one.name: one for one in settings.providers}
        every = (default, *(pair for pair in route.candidates if pair != default))
        keyless = await asyncio.to_thread(lambda: {name: self._models.why_keyless(name) for name in of_provider})
        return ModelList(
            configured=tuple(
                self._told(pair, of_provider.get(pair[0]), pair == default, chain, keyless.get(pair[0], ""))
                for pair in every
            ),
            found=beside,
        )

    async def tested(self, name: str) -> ModelTested:
        """What came of asking a model a tiny question; the times are those of the request. Raises Refusal `unknown_model`."""
        pair = self._pair(name)
        named = "/".join(pair)
        missing = next((one.missing for one in self._models.settings.providers if one.name == pair[0]), "")
        if missing:
            return ModelTested(name=named, ok=False, problem=_problem("model_auth", missing))
        if not self._models.settings.providers:
            problem = Problem(
                code="model_unconfigured",
                message="No model is configured: what answers is a search.",
                hint="`callboard models` shows what could be.",
            )
            return ModelTested(name=named, ok=False, problem=problem)
        began = 0.0
        try:
            async with asyncio.timeout(PATIENCE_S):
                # What is told is how fast the model is, not how long its libraries and its key take to come.
                await self._models.warm(pair)
                began = time.monotonic()
                return await self._ask(pair, began)
        except ModelFailure as failure:
            problem = _problem(failure.code, failure.message)
        except Refusal as refusal:
            problem = refusal.problem
        except TimeoutError:
            problem = _problem("model_timeout", f"{named} gave no whole answer within {PATIENCE_S:g} seconds.")
        return ModelTested(name=named, ok=False, duration_ms=_since(began) if began else 0, problem=problem)

    async def _ask(self, pair: Pair, began: float) -> ModelTested:
        model = self._models.model(*pair)
        asked = ModelMessage(role="user", content=(TextContent(_QUESTION),))
        said, first, end = list[str](), 0, None
        async for event in model.stream(ModelRequest(model=pair[1], system=(), messages=(asked,))):
            first = first or _since(began)
            end = _heard(event, said)
        if end is None:
            raise ModelFailure("model_cut_stream", "The answer broke off before its end.", retryable=True)
        usage = end.usage
        return ModelTested(
            name="/".join(pair),
            ok=True,
            text="".join(said).strip()[:_LONGEST_TEXT],
            first_ms=first,
            duration_ms=_since(began),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            amount=usage.amount,
            source=usage.source,
        )

    def _pair(self, name: str) -> Pair:
        route = self._models.route("")
        if not name:
            return route.candidates[route.chosen]
        meant = next((pair for pair in route.candidates if name in ("/".join(pair), pair[1], pair[0])), None)
        provider, _, model = name.partition("/")
        if meant is None and model and provider in {one.name for one in self._models.settings.providers}:
            meant = provider, model
        if meant is None:
            known = ", ".join("/".join(pair) for pair in route.candidates)
            raise Refusal("unknown_model", f"No model is called {name}.", field="name", hint=f"There are: {known}.")
        return meant

    def _told(
        self, pair: Pair, provider: ProviderSettings | None, default: bool, chain: list[Pair], keyless: str
    ) -> ConfiguredModel:
        model = self._models.model(*pair)
        return ConfiguredModel(
            name="/".join(pair),
            provider=pair[0],
            model=pair[1],
            kind=provider.kind if provider is not None else "offline",
            label=model.label,
            usable=not keyless,
            why=keyless if provider is not None else "No model is configured: this is a search.",
            images=model.images,
            window=model.window,
            default=default,
            fallback=chain.index(pair) + 1 if pair in chain else 0,
            address=provider.base_url if provider is not None else "",
        )


def _heard(event: ModelEvent, said: list[str]) -> Finished | None:
    match event:
        case TextDelta(text=text):
            said.append(text)
        case Finished():
            return event
        case _:
            pass
    return None


def _problem(code: Code, message: str) -> Problem:
    return Problem(code=code, message=message, hint=HINTS.get(code, ""))


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
