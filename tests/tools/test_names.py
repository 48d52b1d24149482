"""The names that a definition may list are those of the tools that there are."""

from __future__ import annotations

from callboard.contracts.tools import EVERY_TOOL, TOOL_NAMES
from callboard.tools import foreign, kit


def test_every_tool_can_be_listed_and_nothing_else():
    known = {*kit.KINDS, *(kind.tool for kind in foreign._KINDS.values())}
    assert (known, kit.ALL) == (TOOL_NAMES, EVERY_TOOL)
