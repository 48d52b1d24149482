"""The commands of the key store."""

from __future__ import annotations

import asyncio

from callboard.contracts.commands.secret import (
    ListSecrets,
    RemoveSecret,
    SecretList,
    SecretRemoved,
    SecretStored,
    SetSecret,
)
from callboard.contracts.ports.secrets import HANDLE, Secrets

from ..service import Service, answers

SecretCommand = ListSecrets | SetSecret | RemoveSecret


class KeyStore(Service):
    """Stores, removes and lists named secrets."""

    @answers(ListSecrets, SetSecret, RemoveSecret)
    async def answer(self, command: SecretCommand) -> SecretStored | SecretRemoved | SecretList:
        """Run a command on the runtime's secrets. Its facts and answer are not stored."""
        return await answer_secret(command, self._dependencies.secrets)


async def answer_secret(command: SecretCommand, secrets: Secrets) -> SecretStored | SecretRemoved | SecretList:
    """Run the command in a thread, because a keyring may wait for a person to unlock it.

    The command leaves no fact and no stored answer: repeating it has the same effect, and no log
    contains the value.
    """
    match command:
        case ListSecrets():
            return SecretList(secrets=secrets.list_stored(), problem=await asyncio.to_thread(secrets.check_keyring))
        case SetSecret(name=name, value=value):
            secret = await asyncio.to_thread(secrets.store, name, value)
            return SecretStored(name=secret.name, place=secret.place, handle=f"{HANDLE}{secret.name}")
        case RemoveSecret(name=name):
            await asyncio.to_thread(secrets.remove, name)
            return SecretRemoved(name=name)
