"""The secrets that settings name and nobody has."""

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
from .finding import Finding, bad, ok

#: What names a secret, by the table that it stands in.
_NAMING = {"models": "model", "servers": "tool server", "hooks": "hook"}


async def check_secrets(
    home: StateFolder, environment: Mapping[str, str], settings: Settings, holding: Effective
) -> tuple[Finding, ...]:
    """One finding for each secret that is missing. `holding` is what holds in the folder, beside the models of the settings."""
    secrets = await load_local_secrets(home, environment)
    wanted: dict[str, list[str]] = {}
    tables = {**msgspec.to_builtins(holding), "models": msgspec.to_builtins(settings.models)}
    for table, what in _NAMING.items():
        for entry in tables.get(table, ()):
            for name in dict.fromkeys(name for text in _texts(entry) for name in secrets.find_stored(text)):
                wanted.setdefault(name, []).append(f"{what} {entry['name']}")
    there = {one.name for one in secrets.list_stored()}
    missing = {name: by for name, by in wanted.items() if name not in there}
    if not missing:
        return (ok("secrets", "those that settings name are there"),) if wanted else ()
    unkept = await asyncio.to_thread(secrets.check_keyring)
    return tuple(
        bad(
            f"secret {name}",
            f"neither the keyring nor this environment has {HANDLE}{name}, which {_joined(by)} {'name' if by[1:] else 'names'}",
            "What needs it fails until it is there.",
            f"env {VARIABLE}{name}=VALUE callboard" if unkept else f"callboard secrets set {name}",
        )
        for name, by in missing.items()
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in cast("dict[str, Any]", value).values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in cast("Iterable[Any]", value):
            yield from _texts(one)


def _joined(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
