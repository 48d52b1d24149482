"""The definitions that come with the package: those of a folder that has none of its own."""

from __future__ import annotations

from functools import cache
from importlib import resources

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition

from . import presets
from .definition import parse

LEAD = "solo"


class PackagedDefinitions:
    """Implements the port `Definitions` for every folder alike."""

    def lead(self, folder: str) -> Definition:
        """The agent that a new session starts with."""
        return self.get(folder, LEAD)

    def get(self, folder: str, name: str) -> Definition:
        """The agent of that name. Raises Refusal `unknown_agent`."""
        found = _presets().get(name)
        if found is None:
            raise Refusal("unknown_agent", f"There is no agent {name} in {folder}.", field="agent")
        return found


@cache
def _presets() -> dict[str, Definition]:
    files = (one for one in (resources.files(presets)).iterdir() if one.name.endswith(".md"))
    found = (parse(one.read_bytes(), one.name) for one in files)
    return {definition.name: definition for definition in found}
