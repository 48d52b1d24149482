"""Demos: what a team works on, set out in a folder of its own."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ..facts.turn import Mode, PermissionMode


class DemoFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A demo that can begin. `folder` is absolute with symlinks resolved; the rest is what its first turn is given."""

    folder: str
    objective: str
    mode: Mode
    permission_mode: PermissionMode


class Demos(Protocol):
    """The demos that come with the product."""

    def set_out(self, name: str) -> DemoFolder:
        """Makes a new folder with the demo's files. Blocks while it writes. Raises Refusal `invalid_input`."""
        ...
