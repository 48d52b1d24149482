"""Where settings are kept, and what holds in a folder."""

from __future__ import annotations

from typing import Protocol

from ..settings import Asked, Effective, Settings


class SettingsBook(Protocol):
    """The settings of the user and of folders. Each answer is that of the files as they are now; a file that cannot be read
    is a problem that is told, and says nothing: it never widens."""

    def user(self) -> Settings:
        """The user's settings, with what the environment says over them. Raises Refusal `bad_settings`."""
        ...

    def asked(self, folder: str) -> Asked:
        """What the folder's own files would widen."""
        ...

    def effective(self, folder: str, trusted: str) -> Effective:
        """What holds in the folder, where `trusted` is the digest that a person trusts (empty for none)."""
        ...
