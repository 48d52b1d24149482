"""Port of demos."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ..facts.turn import Mode, PermissionMode


class DemoFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A prepared demo. `folder` is absolute with symlinks resolved. The other fields are for its first turn."""

    folder: str
    objective: str
    mode: Mode
    permission_mode: PermissionMode


class Demos(Protocol):
    """The demos of the package."""

    def create_folder(self, name: str) -> DemoFolder:
        """Create a folder with the demo's files. Blocks.

        Raises:
            Refusal: `invalid_input` for an unknown demo.
        """
        ...
