"""State of background processes."""

from __future__ import annotations

import msgspec

from callboard.contracts.scope import Scope


class OpenProcess(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A background process in the host of `epoch`. `scope` is its call's, with the process
    id. `stopping`: its end was requested."""

    process: str
    scope: Scope
    epoch: int
    stopping: bool = False
