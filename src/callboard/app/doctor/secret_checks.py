"""Check of the secrets that settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from callboard.contracts.ports.secrets import HANDLE
from callboard.contracts.settings import Effective, Settings
from callboard.secrets.keyring_store import VARIABLE

from ..models.keys import load_local_secrets
from ..state_folder import StateFolder
from .finding import Finding, report_bad, report_ok

#: Nouns of the tables that can name a secret.
_NOUNS = {"models": "model", "servers": "tool server", "hooks": "hook"}


async def check_secrets(
    state_folder: StateFolder, environment: Mapping[str, str], settings: Settings, effective: Effective
) -> tuple[Finding, ...]:
    """Return one finding for each missing secret. `effective` holds the servers and hooks of the folder."""
    secrets = await load_local_secrets(state_folder, environment)
    uses: dict[str, list[str]] = {}
    tables = {**msgspec.to_builtins(effective), "models": msgspec.to_builtins(settings.models)}
    for table, noun in _NOUNS.items():
        for entry in tables.get(table, ()):
            for name in dict.fromkeys(name for text in _list_texts(entry) for name in secrets.find_stored(text)):
                uses.setdefault(name, []).append(f"{noun} {entry['name']}")
    available = {secret.name for secret in secrets.list_stored()}
    missing = {name: by for name, by in uses.items() if name not in available}
    if not missing:
        return (report_ok("secrets", "all secrets that settings name are available"),) if uses else ()
    keyring_problem = await asyncio.to_thread(secrets.check_keyring)
    return tuple(
        report_bad(
            f"secret {name}",
            f"{HANDLE}{name} is not in the keyring or the environment; {_join(by)} {'need' if by[1:] else 'needs'} it",
            "Everything that needs it fails.",
            f"env {VARIABLE}{name}=VALUE callboard" if keyring_problem else f"callboard secrets set {name}",
        )
        for name, by in missing.items()
    )


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in cast("dict[str, Any]", value).values():
            yield from _list_texts(entry)
    elif isinstance(value, list | tuple):
        for entry in cast("Iterable[Any]", value):
            yield from _list_texts(entry)


def _join(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
