"""The commands of the key store. What a keyring does may wait for a person who unlocks it, so it is done in a thread."""

from __future__ import annotations

import asyncio

from callboard.contracts.commands.secrets import (
    ListSecrets,
    RemoveSecret,
    SecretGone,
    SecretKept,
    SecretList,
    SetSecret,
)
from callboard.contracts.ports.secrets import HANDLE, Secrets

SecretCommand = ListSecrets | SetSecret | RemoveSecret


async def answer_secret(command: SecretCommand, secrets: Secrets) -> SecretKept | SecretGone | SecretList:
    """Carries the command out. Nothing of it is a fact, and no answer is kept under its key: to set or remove a secret again
    comes to the same, and what could tell of a value is in no log.

    Raises Refusal `invalid_input`, `unknown_secret`, `secret_store_unavailable`.
    """
    match command:
        case ListSecrets():
            return SecretList(secrets=secrets.list_stored(), problem=await asyncio.to_thread(secrets.check_keyring))
        case SetSecret(name=name, value=value):
            kept = await asyncio.to_thread(secrets.store, name, value)
            return SecretKept(name=kept.name, place=kept.place, handle=f"{HANDLE}{kept.name}")
        case RemoveSecret(name=name):
            await asyncio.to_thread(secrets.remove, name)
            return SecretGone(name=name)
