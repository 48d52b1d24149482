"""The names that a definition may list are those of the tools that there are."""

from __future__ import annotations

from callboard.contracts.tools import EVERY_TOOL, TOOL_NAMES
from callboard.tools.builtin import declarations
from callboard.tools.gate import external_calls


def test_exactly_the_declared_tools_can_be_listed():
    known = {*declarations.TOOLS, *(kind.tool for kind in external_calls._KINDS.values())}
    assert (known, declarations.ALL) == (TOOL_NAMES, EVERY_TOOL)
