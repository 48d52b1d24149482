"""The secrets that this process knows: those of the keyring, of the environment, and the keys that settings name."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE
from callboard.contracts.settings import AnyModel, Hook, HttpServer, RecordedModel, ScriptedModel, Server, Settings
from callboard.secrets.keyring_store import KeyringStore, read_environment, read_keyring
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.ordinary_text import explain_ordinary
from callboard.secrets.redaction import Redaction

from ..state_folder import StateFolder, read_regular
from .providers import VENDORS, resolve_key

log = logging.getLogger(__name__)

#: How long the keyring may take to be read when a process starts, in seconds. One that asks a person to unlock it may not
#: be answered.
PATIENCE_S = 20.0
#: Puts a value in place of each handle of a text.
Reveal = Callable[[str], str]
_HANDLE = re.compile(rf"{re.escape(HANDLE)}([A-Za-z0-9][A-Za-z0-9_-]*)")
_OWN_VARIABLES = ("CALLBOARD_API_KEY", *(name for vendor in VENDORS for name in vendor.variables))
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|auth|credential")


async def load_secrets(home: StateFolder, settings: Settings, environment: Mapping[str, str]) -> Redaction:
    """All secrets that are known. A keyring that cannot be read is told in the log, and what it holds is missing where it is
    used."""
    for why in read_environment(environment)[1]:
        log.warning("a variable is no secret, and is neither redacted nor given to tools: %s", why)
    secrets = await load_local_secrets(home, environment)
    learn_keys(secrets, settings, environment)
    return secrets


async def load_local_secrets(home: StateFolder, environment: Mapping[str, str]) -> Redaction:
    """Those of the environment and of the keyring."""
    secrets = environment_secrets(environment, open_keyring(home))
    try:
        async with asyncio.timeout(PATIENCE_S):
            kept = await asyncio.to_thread(read_keyring, open_keyring(home))
    except Refusal as refusal:
        log.warning("what the keyring holds is not known and cannot be redacted: %s", refusal.problem.message)
    except TimeoutError:
        log.warning("what the keyring holds is not known and cannot be redacted: it did not answer in time")
    else:
        named = {one.name for one in secrets.list_stored()}
        secrets.learn([one for one in kept if one.name not in named])
    return secrets


def open_keyring(home: StateFolder) -> KeyringStore:
    """Return the store of the secrets that a state folder names."""
    return KeyringStore(home.folder, read_regular)


def environment_secrets(environment: Mapping[str, str], store: KeyringStore | None = None) -> Redaction:
    """Those of the environment alone."""
    known, _ = read_environment(environment)
    values = {variable: environment.get(variable, "") for variable in _OWN_VARIABLES}
    keys = [
        NamedSecret(name, value, "environment") for name, value in values.items() if not explain_ordinary(name, value)
    ]
    return Redaction([*known, *keys], [one.name for one in keys], store)


def reveal_on_demand(environment: Mapping[str, str]) -> Reveal:
    """Puts keys in place of handles for a process that does not serve. Blocking; raises Refusal."""

    def reveal(text: str) -> str:
        if HANDLE not in text:
            return text
        store = open_keyring(StateFolder.from_environment(environment))
        secrets = environment_secrets(environment, store)
        secrets.learn(read_keyring(store))
        return secrets.reveal_key(text)

    return reveal


def learn_keys(secrets: Redaction, settings: Settings, environment: Mapping[str, str]) -> None:
    """Knows the keys of models, servers and hooks from now on: they are given to nobody else."""
    known: dict[str, NamedSecret] = {}
    names: set[str] = set()
    for name, value, of_file in (
        *_of_models(settings.models, environment),
        *_of_programs((*settings.servers, *settings.hooks)),
    ):
        handles = _HANDLE.findall(value)
        names.update(handles)
        if not handles and not explain_ordinary(name, value):
            known[name] = NamedSecret(name, value, "settings" if of_file else "environment")
    secrets.learn(known.values(), {*names, *known})


def _of_models(models: tuple[AnyModel, ...], environment: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """The name, the key or its handle, and whether it stands in the file, of each model that has one."""
    found: list[tuple[str, str, bool]] = []
    for model in models:
        if isinstance(model, ScriptedModel | RecordedModel):
            continue
        try:
            value = resolve_key(model, environment)
        except Refusal:
            continue
        variable = model.api_key_env or next((one for one in _OWN_VARIABLES if environment.get(one) == value), "")
        of_file = bool(model.api_key) and not model.api_key_env
        found.append((_name(f"model-{model.name}") if of_file or not variable else variable, value, of_file))
    return found


def _of_programs(those: tuple[Server | Hook, ...]) -> list[tuple[str, str, bool]]:
    """The same of what servers and hooks are started or asked with, as far as it is called like a secret or is a handle."""
    found: list[tuple[str, str, bool]] = []
    for one in those:
        given = one.headers if isinstance(one, HttpServer) else one.env
        for name, value in given.items():
            if HANDLE in value or _SECRET_NAME.search(name):
                found.append((_name(f"{'hook' if isinstance(one, Hook) else 'server'}-{one.name}-{name}"), value, True))
    return found


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)[:64]
