"""A keyring in the file KEYRING_DRAWER, which KEYRING_DRAWER_LOCKED locks."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class Drawer(KeyringBackend):
    """The keyring that PYTHON_KEYRING_BACKEND names."""

    priority = 5  # pyright: ignore[reportAssignmentType]

    def get_password(self, service: str, username: str) -> str | None:
        return self._held().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        passwords = {**self._held(), f"{service}/{username}": password}
        _file().write_text(json.dumps(passwords))

    def delete_password(self, service: str, username: str) -> None:
        passwords = self._held()
        del passwords[f"{service}/{username}"]
        _file().write_text(json.dumps(passwords))

    def _held(self) -> dict[str, str]:
        if os.environ.get("KEYRING_DRAWER_LOCKED"):
            raise KeyringLocked("not unlocked for hunter2-hunter2")
        return json.loads(_file().read_text()) if _file().exists() else {}


def _file() -> Path:
    return Path(os.environ["KEYRING_DRAWER"])
