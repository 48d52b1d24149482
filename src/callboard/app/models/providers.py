"""The models that a person named: in the settings, or by the variables of the environment that other tools use as well."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from callboard.client.endpoint import ModelMark
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
    """Whose key a variable holds: how its entry is called, what is asked where no model is named, and how the names of its
    models begin."""

    name: str
    kind: type[OpenAIModel | AnthropicModel | GoogleModel]
    variables: tuple[str, ...]
    model: str
    prefix: str = ""


#: In the order of preference. A model by a name of nobody's is the first one's.
VENDORS = (
    Vendor("openai", OpenAIModel, ("OPENAI_API_KEY",), "gpt-5.4-mini"),
    Vendor("anthropic", AnthropicModel, ("ANTHROPIC_API_KEY",), "claude-sonnet-5-5", "claude"),
    Vendor("google", GoogleModel, ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini-3.8-flash", "gemini"),
)


def resolve_paths(model: AnyModel, folder: Path) -> AnyModel:
    """The entry as it reads in a file of that folder: a relative path starts there."""
    match model:
        case ScriptedModel():
            return msgspec.structs.replace(model, scenario=str(folder / Path(model.scenario).expanduser()))
        case RecordedModel():
            return msgspec.structs.replace(model, recording=str(folder / Path(model.recording).expanduser()))
        case _:
            return model


def resolve_key(model: AnyModel, environment: Mapping[str, str]) -> str:
    """The key itself, or its handle. An entry of a vendor that names none takes the vendor's own variable.

    Raises Refusal `bad_settings` where it is to come from a variable that is not set.
    """
    if isinstance(model, ScriptedModel | RecordedModel):
        return ""
    variables = _variables(model)
    if not variables:
        return model.api_key
    found = next((environment[one] for one in variables if environment.get(one)), "")
    if not found:
        named = " or ".join(variables)
        raise Refusal(
            "bad_settings",
            f"The model {model.name} takes its key from {named}, which is not set.",
            field="models.api_key_env",
            hint=f"Set {named}, or take the model out of settings.toml.",
        )
    return found


def _variables(model: CompatibleModel | OpenAIModel | AnthropicModel | GoogleModel) -> tuple[str, ...]:
    """Where the entry's key comes from; empty where it stands in the entry, or none is needed."""
    if model.api_key_env or model.api_key:
        return (model.api_key_env,) if model.api_key_env else ()
    vendor = next((one for one in VENDORS if isinstance(model, one.kind)), None)
    # At another address nobody knows whether a key is needed, and the vendor's own is not meant for it.
    own = vendor is not None and model.base_url == vendor.kind(name="own", model="own").base_url
    return vendor.variables if vendor is not None and own else ()


def build_providers(models: tuple[AnyModel, ...], environment: Mapping[str, str]) -> tuple[ProviderSettings, ...]:
    """The entries in the words of the models. One that lacks its key is told as such where another can be asked.

    Raises Refusal `bad_settings` where none can.
    """
    found = tuple(_provider(model, environment) for model in models)
    if found and all(one.missing for one in found):
        for model in models:
            resolve_key(model, environment)
    return found


def _provider(model: AnyModel, environment: Mapping[str, str]) -> ProviderSettings:
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
    """The marks of models in their order, for holders of the same secret. A key that is not there has an empty mark."""

    def mark(text: bytes) -> str:
        return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest() if text else ""

    def key(model: AnyModel) -> str:
        try:
            return resolve_key(model, environment)
        except Refusal:
            return ""

    return tuple(ModelMark(mark(msgspec.json.encode(model)), mark(key(model).encode())) for model in models)


def marks_match(mine: tuple[ModelMark, ...], theirs: tuple[ModelMark, ...]) -> bool:
    """True where they are the same models in the same order, and no key of mine is another than theirs."""
    return [mark.model for mark in mine] == [mark.model for mark in theirs] and all(
        my.key in ("", their.key) for my, their in zip(mine, theirs, strict=True)
    )


def select_models(environment: Mapping[str, str], listed: tuple[AnyModel, ...]) -> tuple[AnyModel, ...]:
    """The models in the order of preference: what `CALLBOARD_…` asks for, then those listed, else what `OPENAI_BASE_URL` and
    the keys of vendors name.

    Raises Refusal `bad_settings` where the variables ask for what cannot be had.
    """
    wanted = environment.get("CALLBOARD_MODEL", "")
    found = list(listed)
    chosen = [model for model in found if model.name == wanted]
    if chosen:
        found = [*chosen, *(model for model in found if model.name != wanted)]
    used = bool(chosen)
    if base_url := environment.get("CALLBOARD_BASE_URL"):
        if not used:
            found.insert(0, _at(base_url, wanted, "CALLBOARD_BASE_URL", "CALLBOARD_API_KEY", environment))
            used = True
    elif not listed:
        base_url = environment.get("OPENAI_BASE_URL", "")
        if base_url.rstrip("/") not in ("", OPENAI):
            found.append(_at(base_url, wanted, "OPENAI_BASE_URL", "OPENAI_API_KEY", environment))
        found.extend(_of_vendors(environment, "" if found else wanted, instead_of_openai=bool(found)))
        used = bool(found)
    if scenario := environment.get("CALLBOARD_SCENARIO"):
        path = Path(scenario).expanduser().absolute()
        found.insert(0, ScriptedModel(name="scenario", scenario=str(path)))
    elif wanted and not used:
        raise Refusal(
            "bad_settings",
            f"CALLBOARD_MODEL names {wanted}, and there is no endpoint to ask for it.",
            field="CALLBOARD_MODEL",
            hint="Set CALLBOARD_BASE_URL or the key of a provider as well, or list the model in settings.toml.",
        )
    return tuple(found)


def _of_vendors(environment: Mapping[str, str], wanted: str, *, instead_of_openai: bool) -> list[AnyModel]:
    """A model of each vendor whose key is there, the one that the wanted model is of first."""
    keys = {vendor: next((one for one in vendor.variables if environment.get(one)), "") for vendor in VENDORS}
    there = [vendor for vendor in VENDORS if keys[vendor] and not (instead_of_openai and vendor.name == "openai")]
    if wanted and there:
        meant = next((one for one in there if one.prefix and wanted.startswith(one.prefix)), there[0])
        there = [meant, *(one for one in there if one != meant)]
    return [
        vendor.kind(
            name=vendor.name,
            model=wanted if wanted and place == 0 else vendor.model,
            api_key_env=keys[vendor],
        )
        for place, vendor in enumerate(there)
    ]


def _at(base_url: str, model: str, variable: str, key: str, environment: Mapping[str, str]) -> CompatibleModel:
    place, port = urlsplit(base_url), ""
    try:
        port = f":{place.port}" if place.port else ""
    except ValueError:
        place = urlsplit("")
    if place.scheme not in ("http", "https") or not place.netloc:
        raise Refusal(
            "bad_settings",
            f"{variable} is not the address of an endpoint: {base_url}",
            field=variable,
            hint="It reads like http://localhost:11434/v1.",
        )
    if not model:
        raise Refusal(
            "bad_settings",
            f"{variable} names an endpoint, and CALLBOARD_MODEL no model to ask there.",
            field="CALLBOARD_MODEL",
            hint="Set CALLBOARD_MODEL to the name that the endpoint knows the model by.",
        )
    name = "openai" if place.hostname == "api.openai.com" else f"{place.hostname}{port}"
    return CompatibleModel(name=name, base_url=base_url, model=model, api_key_env=key if environment.get(key) else "")
