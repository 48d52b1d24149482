"""Secrets of the system's keyring and of the environment. No file replaces a missing keyring."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from callboard.contracts.entities.secret import SecretInfo
from callboard.contracts.errors import Refusal

from .named_secret import NamedSecret
from .ordinary_text import explain_ordinary

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

#: Prefix of variables with secrets; the rest is the secret's name.
VARIABLE = "CALLBOARD_SECRET_"
#: Service name in the keyring.
_SERVICE = "callboard"
_NAMES = "secrets.json"
#: Minimum priority of a suitable keyring. Plain files have a lower one.
_SAFE = 1
_HINT = (
    "Start the system's keyring (GNOME Keyring, KWallet, the keychain), or keep the secret in a variable "
    f"{VARIABLE}NAME of the environment that callboard is started in."
)
_UNREADABLE = "Move it away, then name each secret again with `callboard secrets set NAME`."


class KeyringStore:
    """Implements the port `SecretStore`.

    A keyring cannot list its entries. A file in the state folder has the names, never a value. If
    it has none, the keyring is not opened.
    """

    def __init__(self, folder: Path, read: Callable[[Path], bytes]) -> None:
        """Create a store.

        Args:
            read: Returns the content of a regular file. Raises OSError for anything else.
        """
        self._names = folder / _NAMES
        self._read = read

    def check(self) -> None:
        """Raise Refusal `secret_store_unavailable` if there is no keyring."""
        _backend()

    def names(self) -> tuple[SecretInfo, ...]:
        """Return the stored secrets by name. Raises Refusal `secret_store_unavailable`."""
        return tuple(SecretInfo(name=name, place="keyring") for name in self._listed())

    def get(self, name: str) -> str | None:
        """Return the value, or None. Raises Refusal `secret_store_unavailable`."""
        backend = _backend()
        try:
            return backend.get_password(_SERVICE, name)
        except Exception as error:
            raise _unavailable(f"{backend.name} did not give {name} ({type(error).__name__})") from None

    def put(self, name: str, value: str) -> None:
        """Store a value. Raises Refusal `secret_store_unavailable`."""
        backend = _backend()
        named = self._listed()
        try:
            backend.set_password(_SERVICE, name, value)  # pyright: ignore[reportUnknownMemberType]
        except Exception as error:
            # The cause is not chained, because a backend's message may quote the value.
            raise _unavailable(f"{backend.name} did not take {name} ({type(error).__name__})") from None
        self._list({*named, name})

    def remove(self, name: str) -> bool:
        """Remove a value. Return False if there was none. Raises Refusal `secret_store_unavailable`."""
        named = self._listed()
        if name not in named:
            return False
        backend = _backend()
        try:
            if backend.get_password(_SERVICE, name) is not None:
                backend.delete_password(_SERVICE, name)
        except Exception as error:
            raise _unavailable(f"{backend.name} did not forget {name} ({type(error).__name__})") from None
        self._list({*named} - {name})
        return True

    def _listed(self) -> tuple[str, ...]:
        try:
            return msgspec.json.decode(self._read(self._names), type=tuple[str, ...])
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise _unavailable(f"{self._names} cannot be read: {why}", _UNREADABLE) from None

    def _list(self, names: set[str]) -> None:
        try:
            handle, path = tempfile.mkstemp(dir=self._names.parent, prefix=f".{_NAMES}.")
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(sorted(names)))
                file.flush()
                os.fsync(file.fileno())
            Path(path).replace(self._names)
        except OSError as error:
            raise _unavailable(f"{self._names} cannot be written ({error})") from None


def read_environment(environment: Mapping[str, str]) -> tuple[list[NamedSecret], list[str]]:
    """Return the secrets of variables, and the variables with unsuitable values and the reason."""
    known: list[NamedSecret] = []
    left_out: list[str] = []
    for variable, value in sorted(environment.items()):
        name = variable.removeprefix(VARIABLE)
        if name == variable or not name:
            continue
        why = explain_ordinary(name, value)
        if why:
            left_out.append(f"{variable}: {why}")
        else:
            known.append(NamedSecret(name, value, "environment"))
    return known, left_out


def read_keyring(store: KeyringStore) -> list[NamedSecret]:
    """Return the secrets of the keyring. Blocks. Raises Refusal `secret_store_unavailable`."""
    found = ((info.name, store.get(info.name)) for info in store.names())
    return [NamedSecret(name, value, "keyring") for name, value in found if value]


def _backend() -> KeyringBackend:
    # The import searches the machine for backends, which is slow. Only those who store a secret
    # need it.
    import keyring

    try:
        backend = keyring.get_keyring()
        usable = backend.priority >= _SAFE
    except Exception as error:
        raise _unavailable(f"the system's keyring cannot be used ({type(error).__name__})") from None
    if not usable:
        raise _unavailable("this system has no keyring that keeps what it is given safe")
    return backend


def _unavailable(why: str, hint: str = _HINT) -> Refusal:
    return Refusal("secret_store_unavailable", f"{why[:1].upper()}{why[1:]}.", hint=hint)
