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

from .named_secret import NamedSecret, explain_ordinary

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
    "Start GNOME Keyring, KWallet or the macOS keychain. Or start Callboard with the variable "
    f"{VARIABLE}NAME, where NAME is the secret's name."
)
_UNREADABLE = "Move it away, then store each secret again with `callboard secrets set NAME`."


class KeyringStore:
    """Implements the port `SecretStore`.

    A keyring cannot list its entries. A file in the state folder has the names, never a value. If
    it has none, the keyring is not opened.

    Args:
        read: Returns the content of a regular file. Raises OSError for anything else.
    """

    def __init__(self, folder: Path, read: Callable[[Path], bytes]) -> None:
        self._names = folder / _NAMES
        self._read = read

    def check(self) -> None:
        """Raise Refusal `secret_store_unavailable` if there is no keyring."""
        _find_backend()

    def list_stored(self) -> tuple[SecretInfo, ...]:
        """Return the stored secrets by name. Raises Refusal `secret_store_unavailable`."""
        return tuple(SecretInfo(name=name, place="keyring") for name in self._read_names())

    def get(self, name: str) -> str | None:
        """Return the value, or None. Raises Refusal `secret_store_unavailable`."""
        backend = _find_backend()
        try:
            return backend.get_password(_SERVICE, name)
        except Exception as error:
            raise _build_refusal(f"{backend.name} did not return {name} ({type(error).__name__})") from None

    def put(self, name: str, value: str) -> None:
        """Store a value. Raises Refusal `secret_store_unavailable`."""
        backend = _find_backend()
        names = self._read_names()
        try:
            backend.set_password(_SERVICE, name, value)  # pyright: ignore[reportUnknownMemberType]
        except Exception as error:
            # The cause is not chained, because a backend's message may quote the value.
            raise _build_refusal(f"{backend.name} did not store {name} ({type(error).__name__})") from None
        self._write_names({*names, name})

    def remove(self, name: str) -> bool:
        """Remove a value. Return False if there was none. Raises Refusal `secret_store_unavailable`."""
        names = self._read_names()
        if name not in names:
            return False
        backend = _find_backend()
        try:
            if backend.get_password(_SERVICE, name) is not None:
                backend.delete_password(_SERVICE, name)
        except Exception as error:
            raise _build_refusal(f"{backend.name} did not remove {name} ({type(error).__name__})") from None
        self._write_names({*names} - {name})
        return True

    def _read_names(self) -> tuple[str, ...]:
        try:
            return msgspec.json.decode(self._read(self._names), type=tuple[str, ...])
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise _build_refusal(f"{self._names} cannot be read: {reason}", _UNREADABLE) from None

    def _write_names(self, names: set[str]) -> None:
        try:
            handle, path = tempfile.mkstemp(dir=self._names.parent, prefix=f".{_NAMES}.")
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(sorted(names)))
                file.flush()
                os.fsync(file.fileno())
            Path(path).replace(self._names)
        except OSError as error:
            raise _build_refusal(f"{self._names} cannot be written ({error})") from None


def read_environment(environment: Mapping[str, str]) -> tuple[list[NamedSecret], list[str]]:
    """Return the secrets of variables, and the variables with unsuitable values and the reason."""
    secrets: list[NamedSecret] = []
    rejected: list[str] = []
    for variable, value in sorted(environment.items()):
        name = variable.removeprefix(VARIABLE)
        if name == variable or not name:
            continue
        reason = explain_ordinary(name, value)
        if reason:
            rejected.append(f"{variable}: {reason}")
        else:
            secrets.append(NamedSecret(name, value, "environment"))
    return secrets, rejected


def read_keyring(store: KeyringStore) -> list[NamedSecret]:
    """Return the secrets of the keyring. Blocks. Raises Refusal `secret_store_unavailable`."""
    values = ((info.name, store.get(info.name)) for info in store.list_stored())
    return [NamedSecret(name, value, "keyring") for name, value in values if value]


def _find_backend() -> KeyringBackend:
    # Imported on first use, because it searches the machine for backends, which is slow.
    import keyring

    try:
        backend = keyring.get_keyring()
        is_safe = backend.priority >= _SAFE
    except Exception as error:
        raise _build_refusal(f"the system's keyring cannot be used ({type(error).__name__})") from None
    if not is_safe:
        raise _build_refusal("this system has no safe keyring")
    return backend


def _build_refusal(reason: str, hint: str = _HINT) -> Refusal:
    return Refusal("secret_store_unavailable", f"{reason[:1].upper()}{reason[1:]}.", hint=hint)
