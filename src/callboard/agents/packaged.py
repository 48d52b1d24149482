"""The agent that comes with the package: that of a folder that has none of its own."""

from __future__ import annotations

from functools import cache

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition, Roster

from .definition import read
from .roster import roster
from .teams import SOLO, sources


@cache
def packaged() -> Roster:
    """The roster of a folder without agents."""
    found = roster((read(source, name) for name, source in sources(SOLO)), packaged=True)
    alone = tuple(msgspec.structs.replace(one, file="") for one in found.definitions)
    return msgspec.structs.replace(found, definitions=alone)


class PackagedDefinitions:
    """Implements the port `Definitions` for every folder alike."""

    def roster(self, folder: str) -> Roster:
        """The packaged agent."""
        return packaged()

    def lead(self, folder: str) -> Definition:
        """The agent that a new session starts with."""
        return self.get(folder, packaged().lead)

    def get(self, folder: str, name: str) -> Definition:
        """The agent of that name. Raises Refusal `unknown_agent`."""
        found = packaged().find(name)
        if found is None:
            raise Refusal("unknown_agent", f"There is no agent {name} in {folder}.", field="agent")
        return found
