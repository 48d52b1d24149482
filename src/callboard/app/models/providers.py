"""Model providers from the settings, or from environment variables that other tools also use."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from callboard.client import ModelMark
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import (
    AnthropicModel,
    AnyModel,
    CompatibleModel,
    GoogleModel,
    OpenAIModel,
    RecordedModel,
    ScriptedModel,
)
from callboard.models.settings import ProviderSettings

OPENAI = "https://api.openai.com/v1"


class Vendor(msgspec.Struct, frozen=True):
    """A model vendor: name of its entry, variables of its key, default model, and prefix of its model names."""

    name: str
    kind: type[OpenAIModel | AnthropicModel | GoogleModel]
    variables: tuple[str, ...]
    model: str
    prefix: str = ""


#: In order of preference. The first one serves a model whose name has no known prefix.
VENDORS = (
    Vendor("openai", OpenAIModel, ("OPENAI_API_KEY",), "gpt-5.4-mini"),
    Vendor("anthropic", AnthropicModel, ("ANTHROPIC_API_KEY",), "claude-sonnet-5-5", "claude"),
    Vendor("google", GoogleModel, ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini-3.8-flash", "gemini"),
)


def find_first_set(variables: Iterable[str], environment: Mapping[str, str]) -> str:
    """Return the first variable that has a value; empty if none has."""
    return next((name for name in variables if environment.get(name)), "")


def resolve_paths(model: AnyModel, folder: Path) -> AnyModel:
    """Return the entry with its paths resolved relative to the folder of its file."""
    match model:
        case ScriptedModel():
            return msgspec.structs.replace(model, scenario=str(folder / Path(model.scenario).expanduser()))
        case RecordedModel():
            return msgspec.structs.replace(model, recording=str(folder / Path(model.recording).expanduser()))
        case _:
            return model


def resolve_key(model: AnyModel, environment: Mapping[str, str]) -> str:
    """Return the key or its handle. A vendor's entry without a key uses the vendor's variables.

    Raises Refusal `bad_settings` if the variable is not set.
    """
    if isinstance(model, ScriptedModel | RecordedModel):
        return ""
    variables = _list_variables(model)
    if not variables:
        return model.api_key
    variable = find_first_set(variables, environment)
    if not variable:
        names = " or ".join(variables)
        raise Refusal(
            "bad_settings",
            f"The key of the model {model.name} comes from {names}, which is not set.",
            field="models.api_key_env",
            hint=f"Set {names}, or remove the model from settings.toml.",
            reason="key_unset",
            parameters={"name": model.name, "variables": ", ".join(variables)},
        )
    return environment[variable]


def _list_variables(model: CompatibleModel | OpenAIModel | AnthropicModel | GoogleModel) -> tuple[str, ...]:
    """Return the variables of the entry's key; empty if the entry contains the key or needs none."""
    if model.api_key_env or model.api_key:
        return (model.api_key_env,) if model.api_key_env else ()
    vendor = next((vendor for vendor in VENDORS if isinstance(model, vendor.kind)), None)
    # The vendor's key must not be sent to another address.
    if vendor is None or model.base_url != vendor.kind(name="own", model="own").base_url:
        return ()
    return vendor.variables


def build_providers(models: tuple[AnyModel, ...], environment: Mapping[str, str]) -> tuple[ProviderSettings, ...]:
    """Convert entries to provider settings. `missing` explains why a provider has no key.

    Raises Refusal `bad_settings` if all keys are missing.
    """
    providers = tuple(_build_provider(model, environment) for model in models)
    if providers and all(provider.missing for provider in providers):
        resolve_key(models[0], environment)
    return providers


def _build_provider(model: AnyModel, environment: Mapping[str, str]) -> ProviderSettings:
    match model:
        case ScriptedModel():
            return ProviderSettings(name=model.name, kind="scripted", scenario=model.scenario)
        case RecordedModel():
            return ProviderSettings(name=model.name, kind="recorded", recording=model.recording)
        case CompatibleModel():
            kind = "openai-compatible"
        case OpenAIModel():
            kind = "openai"
        case AnthropicModel():
            kind = "anthropic"
        case GoogleModel():
            kind = "google"
    key, missing = "", ""
    try:
        key = resolve_key(model, environment)
    except Refusal as refusal:
        missing = refusal.problem.message
    return ProviderSettings(
        name=model.name,
        kind=kind,
        base_url=model.base_url,
        api_key=key,
        models=(model.model,),
        idle_timeout=model.idle_timeout,
        window=model.window,
        images=model.images,
        price=model.price,
        reasoning=model.reasoning,
        missing=missing,
    )


def compute_marks(models: tuple[AnyModel, ...], environment: Mapping[str, str], secret: str) -> tuple[ModelMark, ...]:
    """Return keyed hashes of the models and their keys, in order. A missing key has an empty hash."""

    def mark(text: bytes) -> str:
        return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest() if text else ""

    def find_key(model: AnyModel) -> str:
        try:
            return resolve_key(model, environment)
        except Refusal:
            return ""

    return tuple(ModelMark(mark(msgspec.json.encode(model)), mark(find_key(model).encode())) for model in models)


def has_same_marks(mine: tuple[ModelMark, ...], theirs: tuple[ModelMark, ...]) -> bool:
    """Return True if the models and their order are equal, and no key of `mine` differs."""
    return [mark.model for mark in mine] == [mark.model for mark in theirs] and all(
        my.key in ("", their.key) for my, their in zip(mine, theirs, strict=True)
    )


def select_models(environment: Mapping[str, str], listed: tuple[AnyModel, ...]) -> tuple[AnyModel, ...]:
    """Return the models in order of preference.

    Models of `CALLBOARD_…` variables come first, then the listed ones. Without listed models, `OPENAI_BASE_URL` and the keys of
    vendors apply.

    Raises Refusal `bad_settings` for an invalid variable.
    """
    name = environment.get("CALLBOARD_MODEL", "")
    # A stable sort: the named entry first.
    models = sorted(listed, key=lambda model: model.name != name)
    is_used = any(model.name == name for model in models)
    if base_url := environment.get("CALLBOARD_BASE_URL"):
        if not is_used:
            models.insert(
                0, _build_endpoint_model(base_url, name, "CALLBOARD_BASE_URL", "CALLBOARD_API_KEY", environment)
            )
            is_used = True
    elif not listed:
        base_url = environment.get("OPENAI_BASE_URL", "")
        if base_url.rstrip("/") not in ("", OPENAI):
            models.append(_build_endpoint_model(base_url, name, "OPENAI_BASE_URL", "OPENAI_API_KEY", environment))
        models.extend(_list_vendor_models(environment, "" if models else name, skips_openai=bool(models)))
        is_used = bool(models)
    if scenario := environment.get("CALLBOARD_SCENARIO"):
        path = Path(scenario).expanduser().absolute()
        models.insert(0, ScriptedModel(name="scenario", scenario=str(path)))
    elif name and not is_used:
        raise Refusal(
            "bad_settings",
            f"CALLBOARD_MODEL is {name}, but no endpoint is set.",
            field="CALLBOARD_MODEL",
            hint="Also set CALLBOARD_BASE_URL or the key of a provider, or list the model in settings.toml.",
            reason="endpoint_missing",
            parameters={"name": name},
        )
    return tuple(models)


def _list_vendor_models(environment: Mapping[str, str], name: str, *, skips_openai: bool) -> list[AnyModel]:
    """Return a model of each vendor that has a key; the vendor of the named model comes first."""
    keys = {vendor: find_first_set(vendor.variables, environment) for vendor in VENDORS}
    vendors = [vendor for vendor in VENDORS if keys[vendor] and not (skips_openai and vendor.name == "openai")]
    # A stable sort: without a matching prefix the order stays.
    vendors.sort(key=lambda vendor: not (vendor.prefix and name.startswith(vendor.prefix)))
    return [
        vendor.kind(
            name=vendor.name,
            model=name if name and index == 0 else vendor.model,
            api_key_env=keys[vendor],
        )
        for index, vendor in enumerate(vendors)
    ]


def _build_endpoint_model(
    base_url: str, model: str, variable: str, key: str, environment: Mapping[str, str]
) -> CompatibleModel:
    url, port = urlsplit(base_url), ""
    try:
        port = f":{url.port}" if url.port else ""
    except ValueError:
        url = urlsplit("")
    if url.scheme not in ("http", "https") or not url.netloc:
        raise Refusal(
            "bad_settings",
            f"{variable} is not the address of an endpoint: {base_url}",
            field=variable,
            hint="Example: http://localhost:11434/v1.",
            reason="invalid_url",
        )
    if not model:
        raise Refusal(
            "bad_settings",
            f"{variable} is set, but CALLBOARD_MODEL names no model.",
            field="CALLBOARD_MODEL",
            hint="Set CALLBOARD_MODEL to the model's name at the endpoint.",
            reason="model_name_missing",
            parameters={"name": variable},
        )
    name = "openai" if url.hostname == "api.openai.com" else f"{url.hostname}{port}"
    return CompatibleModel(name=name, base_url=base_url, model=model, api_key_env=key if environment.get(key) else "")
