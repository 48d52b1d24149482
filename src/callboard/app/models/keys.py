"""Secrets of this process: from the keyring, the environment, and the keys in settings."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE
from callboard.contracts.settings import AnyModel, Hook, HttpServer, RecordedModel, ScriptedModel, Server, Settings
from callboard.secrets.keyring_store import KeyringStore, read_environment, read_keyring
from callboard.secrets.named_secret import NamedSecret, explain_ordinary
from callboard.secrets.redaction import Redaction

from ..state_folder import StateFolder, read_regular
from .providers import VENDORS, resolve_key

log = logging.getLogger(__name__)

#: Seconds that reading the keyring may take at the start. A locked keyring may wait for a person.
PATIENCE_SECONDS = 20.0
#: Replaces each handle in a text with its value.
Reveal = Callable[[str], str]
_HANDLE = re.compile(rf"{re.escape(HANDLE)}([A-Za-z0-9][A-Za-z0-9_-]*)")
_OWN_VARIABLES = ("CALLBOARD_API_KEY", *(name for vendor in VENDORS for name in vendor.variables))
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|auth|credential")


async def load_secrets(state_folder: StateFolder, settings: Settings, environment: Mapping[str, str]) -> Redaction:
    """Load all secrets. An unreadable keyring is logged, and using one of its secrets is refused."""
    for reason in read_environment(environment)[1]:
        log.warning("an invalid secret variable is neither redacted nor passed to tools: %s", reason)
    secrets = await load_local_secrets(state_folder, environment)
    learn_keys(secrets, settings, environment)
    return secrets


async def load_local_secrets(state_folder: StateFolder, environment: Mapping[str, str]) -> Redaction:
    """Load the secrets of the environment and of the keyring."""
    secrets = read_environment_secrets(environment, open_keyring(state_folder))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            stored = await asyncio.to_thread(read_keyring, open_keyring(state_folder))
    except Refusal as refusal:
        log.warning("the secrets of the keyring cannot be redacted: %s", refusal.problem.message)
    except TimeoutError:
        log.warning("the secrets of the keyring cannot be redacted: the keyring did not respond in time")
    else:
        names = {secret.name for secret in secrets.list_stored()}
        secrets.learn([secret for secret in stored if secret.name not in names])
    return secrets


def open_keyring(state_folder: StateFolder) -> KeyringStore:
    """Return the store of the secrets that a state folder names."""
    return KeyringStore(state_folder.folder, read_regular)


def read_environment_secrets(environment: Mapping[str, str], store: KeyringStore | None = None) -> Redaction:
    """Return the secrets of the environment."""
    named, _ = read_environment(environment)
    values = {variable: environment.get(variable, "") for variable in _OWN_VARIABLES}
    keys = [
        NamedSecret(name, value, "environment") for name, value in values.items() if not explain_ordinary(name, value)
    ]
    return Redaction([*named, *keys], [key.name for key in keys], store)


def reveal_on_demand(environment: Mapping[str, str]) -> Reveal:
    """Return a function that replaces handles with keys, for a process that does not serve. It blocks and raises Refusal."""

    def reveal(text: str) -> str:
        if HANDLE not in text:
            return text
        store = open_keyring(StateFolder.from_environment(environment))
        secrets = read_environment_secrets(environment, store)
        secrets.learn(read_keyring(store))
        return secrets.reveal_key(text)

    return reveal


def learn_keys(secrets: Redaction, settings: Settings, environment: Mapping[str, str]) -> None:
    """Redact the keys of models, servers and hooks from now on, and reserve their handles for them."""
    keys: dict[str, NamedSecret] = {}
    names: set[str] = set()
    for name, value, is_in_file in (
        *_list_model_keys(settings.models, environment),
        *_list_program_keys((*settings.servers, *settings.hooks)),
    ):
        handles = _HANDLE.findall(value)
        names.update(handles)
        if not handles and not explain_ordinary(name, value):
            keys[name] = NamedSecret(name, value, "settings" if is_in_file else "environment")
    secrets.learn(keys.values(), {*names, *keys})


def _list_model_keys(models: tuple[AnyModel, ...], environment: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """Return name, key or handle, and whether the key is in the file, for each model."""
    keys: list[tuple[str, str, bool]] = []
    for model in models:
        if isinstance(model, ScriptedModel | RecordedModel):
            continue
        try:
            value = resolve_key(model, environment)
        except Refusal:
            continue
        variable = model.api_key_env or next((name for name in _OWN_VARIABLES if environment.get(name) == value), "")
        is_in_file = bool(model.api_key) and not model.api_key_env
        keys.append((_to_name(f"model-{model.name}") if is_in_file or not variable else variable, value, is_in_file))
    return keys


def _list_program_keys(programs: tuple[Server | Hook, ...]) -> list[tuple[str, str, bool]]:
    """Return the same for headers and variables of servers and hooks that have a secret's name or contain a handle."""
    keys: list[tuple[str, str, bool]] = []
    for program in programs:
        kind = "hook" if isinstance(program, Hook) else "server"
        values = program.headers if isinstance(program, HttpServer) else program.env
        keys += [
            (_to_name(f"{kind}-{program.name}-{name}"), value, True)
            for name, value in values.items()
            if HANDLE in value or _SECRET_NAME.search(name)
        ]
    return keys


def _to_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)[:64]
