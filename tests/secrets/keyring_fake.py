"""A keyring of the tests: what is put into it stands in the file that KEYRING_DRAWER names, outside of all that is looked
through. With KEYRING_DRAWER_LOCKED nothing is given out."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class Drawer(KeyringBackend):
    """Is found by PYTHON_KEYRING_BACKEND."""

    priority = 5  # pyright: ignore[reportAssignmentType]

    def get_password(self, service: str, username: str) -> str | None:
        return self._held().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        held = {**self._held(), f"{service}/{username}": password}
        _file().write_text(json.dumps(held))

    def delete_password(self, service: str, username: str) -> None:
        held = self._held()
        del held[f"{service}/{username}"]
        _file().write_text(json.dumps(held))

    def _held(self) -> dict[str, str]:
        if os.environ.get("KEYRING_DRAWER_LOCKED"):
            raise KeyringLocked("nobody unlocked it for hunter2-hunter2")
        return json.loads(_file().read_text()) if _file().exists() else {}


def _file() -> Path:
    return Path(os.environ["KEYRING_DRAWER"])
