"""Names of tools that a definition may list."""

from __future__ import annotations

from callboard.contracts.tools import EVERY_TOOL, TOOL_NAMES
from callboard.tools.builtin import declarations
from callboard.tools.gate import external_calls


def test_exactly_the_declared_tools_can_be_listed():
    names = {*declarations.TOOLS, *(kind.tool for kind in external_calls._KINDS.values())}
    assert (names, declarations.ALL) == (TOOL_NAMES, EVERY_TOOL)
