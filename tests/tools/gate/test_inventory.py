"""Availability of tools for an agent."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.ports.tools import ToolContext
from callboard.tools.gate.inventory import list_tools
from callboard.tools.mcp.servers import McpCatalog

SERVERS = McpCatalog(
    excluded={"mcp__git__push": "git"}, missing={"git": ("git", "the server git is disconnected: it is connecting")}
)
CONTEXT = {
    "folder": "/work",
    "agent": "lead",
    "definition_hash": "0",
    "tools": ("*",),
    "policy": (),
    "mode": "chat",
    "permission_mode": "ask",
}


@pytest.mark.parametrize(
    "change", [{}, {"tools": ()}, {"policy": ("Finalize",)}, {"policy": ("Patch", "Delegate"), "mode": "auto"}]
)
def test_each_reason_is_a_sentence(change: dict[str, Any]):
    """The page and `callboard tools` show it alone."""
    reasons = {tool.reason for tool in list_tools(ToolContext(**{**CONTEXT, **change}), SERVERS)} - {""}
    assert "The settings exclude it." in reasons
    assert "The server git is disconnected: it is connecting." in reasons
    assert [text for text in reasons if not (text[0].isupper() and text.endswith("."))] == []
