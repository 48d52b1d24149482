"""Models for the model picker: configured models, discovered models, and a test request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from callboard.contracts.commands.model import ConfiguredModel, ModelList, ModelTestResult
from callboard.contracts.errors import Code, Problem, Refusal
from callboard.contracts.ports.model import (
    Finished,
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

#: Seconds that a model may take for the whole test response.
PATIENCE_SECONDS = 90.0
_QUESTION = "Answer with the one word: ready"
_MAX_TEXT_CHARS = 500

Pair = tuple[str, str]


class ModelCatalog:
    """The port `ModelCatalogPort`."""

    def __init__(
        self, models: ConfiguredModels, environment: Mapping[str, str], servers: tuple[ModelServer, ...] = MODEL_SERVERS
    ) -> None:
        self._models = models
        self._environment = environment
        self._servers = servers

    async def list_models(self) -> ModelList:
        """Return the configured models, the default first, and the discovered ones."""
        providers = {provider.name: provider for provider in self._models.settings.providers}
        discovered = await discover_models(self._environment, tuple(providers.values()), self._servers)
        route = self._models.choose_route("")
        default = route.candidates[route.chosen]
        chain = [route.candidates[index] for index in route.fallbacks]
        pairs = (default, *(pair for pair in route.candidates if pair != default))
        keyless = await asyncio.to_thread(lambda: {name: self._models.explain_missing_key(name) for name in providers})
        return ModelList(
            configured=tuple(
                self._describe(pair, providers.get(pair[0]), pair == default, chain, keyless.get(pair[0], ""))
                for pair in pairs
            ),
            found=discovered,
        )

    async def test_model(self, name: str) -> ModelTestResult:
        """Send a model a short question; the times are those of the request. Raises Refusal `unknown_model`."""
        pair = self._resolve(name)
        label = "/".join(pair)
        missing = next((entry.missing for entry in self._models.settings.providers if entry.name == pair[0]), "")
        if missing:
            return ModelTestResult(name=label, ok=False, problem=_build_problem("model_auth", missing))
        if not self._models.settings.providers:
            problem = Problem(
                code="model_unconfigured",
                message="No model is configured. The offline search answers.",
                hint="`callboard models` shows what you can configure.",
            )
            return ModelTestResult(name=label, ok=False, problem=problem)
        began = 0.0
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                # The times measure the model, without loading its libraries and key.
                await self._models.warm(pair)
                began = time.monotonic()
                return await self._query(pair, began)
        except ModelFailure as failure:
            problem = _build_problem(failure.code, failure.message)
        except Refusal as refusal:
            problem = refusal.problem
        except TimeoutError:
            problem = _build_problem(
                "model_timeout", f"{label} did not complete its response within {PATIENCE_SECONDS:g} seconds."
            )
        return ModelTestResult(name=label, ok=False, duration_ms=_measure_since(began) if began else 0, problem=problem)

    async def _query(self, pair: Pair, began: float) -> ModelTestResult:
        question = ModelMessage(role="user", content=(TextContent(_QUESTION),))
        text, first_ms, end = "", 0, None
        async for event in self._models.get_model(*pair).stream(
            ModelRequest(model=pair[1], system=(), messages=(question,))
        ):
            first_ms = first_ms or _measure_since(began)
            if isinstance(event, TextDelta):
                text += event.text
            end = event if isinstance(event, Finished) else None
        if end is None:
            raise ModelFailure("model_cut_stream", "The response stopped before its end.", retryable=True)
        usage = end.usage
        return ModelTestResult(
            name="/".join(pair),
            ok=True,
            text=text.strip()[:_MAX_TEXT_CHARS],
            first_ms=first_ms,
            duration_ms=_measure_since(began),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            amount=usage.amount,
            source=usage.source,
        )

    def _resolve(self, name: str) -> Pair:
        route = self._models.choose_route("")
        if not name:
            return route.candidates[route.chosen]
        for pair in route.candidates:
            if name in ("/".join(pair), pair[1], pair[0]):
                return pair
        provider, _, model = name.partition("/")
        if model and any(entry.name == provider for entry in self._models.settings.providers):
            return provider, model
        names = ", ".join("/".join(pair) for pair in route.candidates)
        raise Refusal("unknown_model", f"There is no model {name}.", field="name", hint=f"Use one of: {names}.")

    def _describe(
        self, pair: Pair, provider: ProviderSettings | None, default: bool, chain: list[Pair], keyless: str
    ) -> ConfiguredModel:
        model = self._models.get_model(*pair)
        return ConfiguredModel(
            name="/".join(pair),
            provider=pair[0],
            model=pair[1],
            kind=provider.kind if provider is not None else "offline",
            label=model.label,
            usable=not keyless,
            why=keyless if provider is not None else "No model is configured: this is the offline search.",
            images=model.images,
            window=model.window,
            default=default,
            fallback=chain.index(pair) + 1 if pair in chain else 0,
            address=provider.base_url if provider is not None else "",
        )


def _build_problem(code: Code, message: str) -> Problem:
    return Problem(code=code, message=message, hint=HINTS.get(code, ""))


def _measure_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
