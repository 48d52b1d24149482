"""The agent that comes with the package: that of a folder that has none of its own."""

from __future__ import annotations

from functools import cache

import msgspec

from callboard.contracts.ports.agents import Roster

from .definition import read
from .roster import roster
from .teams import SOLO, sources


@cache
def packaged() -> Roster:
    """The roster of a folder without agents."""
    found = roster((read(source, name) for name, source in sources(SOLO)), packaged=True)
    alone = tuple(msgspec.structs.replace(one, file="") for one in found.definitions)
    return msgspec.structs.replace(found, definitions=alone)
