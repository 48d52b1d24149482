"""The models that a person named: in the settings, or by the variables of the environment that other tools use as well."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import AnyModel, CompatibleModel, RecordedModel, ScriptedModel

OPENAI = "https://api.openai.com/v1"
#: What is asked of OpenAI where no model is named.
OPENAI_MODEL = "gpt-5.4-mini"


def beside(model: AnyModel, folder: Path) -> AnyModel:
    """The entry as it reads in a file of that folder: a relative path starts there."""
    match model:
        case ScriptedModel():
            return msgspec.structs.replace(model, scenario=str(folder / Path(model.scenario).expanduser()))
        case RecordedModel():
            return msgspec.structs.replace(model, recording=str(folder / Path(model.recording).expanduser()))
        case _:
            return model


def key_of(model: AnyModel, environment: Mapping[str, str]) -> str:
    """The key itself. Raises Refusal `bad_settings` where it is to come from a variable that is not set."""
    if isinstance(model, ScriptedModel | RecordedModel):
        return ""
    if not model.api_key_env:
        return model.api_key
    found = environment.get(model.api_key_env)
    if not found:
        raise Refusal(
            "bad_settings",
            f"The model {model.name} takes its key from {model.api_key_env}, which is not set.",
            field="models.api_key_env",
            hint=f"Set {model.api_key_env}, or take the model out of settings.toml.",
        )
    return found


class Mark(msgspec.Struct, frozen=True):
    """By which two processes see whether they mean the same model and key, without telling either."""

    model: str
    key: str


def marks(models: tuple[AnyModel, ...], environment: Mapping[str, str], secret: str) -> tuple[Mark, ...]:
    """The marks of models in their order, for holders of the same secret. A key that is not there has an empty mark."""

    def mark(text: bytes) -> str:
        return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest() if text else ""

    def key(model: AnyModel) -> str:
        if isinstance(model, ScriptedModel | RecordedModel):
            return ""
        return model.api_key or environment.get(model.api_key_env, "")

    return tuple(Mark(mark(msgspec.json.encode(model)), mark(key(model).encode())) for model in models)


def same(mine: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> bool:
    """True where they are the same models in the same order, and no key of mine is another than theirs."""
    return [mark.model for mark in mine] == [mark.model for mark in theirs] and all(
        my.key in ("", their.key) for my, their in zip(mine, theirs, strict=True)
    )


def from_environment(environment: Mapping[str, str], listed: tuple[AnyModel, ...]) -> tuple[AnyModel, ...]:
    """The models in the order of preference: what `CALLBOARD_…` asks for, then those listed, else what `OPENAI_…` names.

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
    elif not listed and (environment.get("OPENAI_API_KEY") or environment.get("OPENAI_BASE_URL")):
        base_url = environment.get("OPENAI_BASE_URL") or OPENAI
        model = wanted or (OPENAI_MODEL if base_url.rstrip("/") == OPENAI else "")
        found.append(_at(base_url, model, "OPENAI_BASE_URL", "OPENAI_API_KEY", environment))
        used = True
    if scenario := environment.get("CALLBOARD_SCENARIO"):
        path = Path(scenario).expanduser().absolute()
        found.insert(0, ScriptedModel(name="scenario", scenario=str(path)))
    elif wanted and not used:
        raise Refusal(
            "bad_settings",
            f"CALLBOARD_MODEL names {wanted}, and there is no endpoint to ask for it.",
            field="CALLBOARD_MODEL",
            hint="Set CALLBOARD_BASE_URL or OPENAI_API_KEY as well, or list the model in settings.toml.",
        )
    return tuple(found)


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
