"""Names of all tools in an agent's list, except `*`."""

from __future__ import annotations

import re

from .commands.process import PROCESS_TOOLS
from .team_tools import TEAM_TOOLS

#: Finds deferred tools of servers. An agent with such tools has this tool.
FIND_TOOLS = "FindTools"
#: Reads more output of an earlier call. An agent with Bash has this tool.
READ_OUTPUT = "ReadOutput"
#: Tools that work in a folder.
FOLDER_TOOLS = ("Bash", "Edit", "Finalize", FIND_TOOLS, "Glob", "Grep", "Read", READ_OUTPUT, "Write", *PROCESS_TOOLS)
#: Calls of external agents that no folder tool corresponds to.
EXTERNAL_TOOLS = ("Delete", "Fetch", "Move", "Other", "SwitchMode", "Think")
TOOL_NAMES = frozenset((*FOLDER_TOOLS, *EXTERNAL_TOOLS, *TEAM_TOOLS))
EVERY_TOOL = "*"

_BROUGHT = re.compile(r"mcp__[A-Za-z0-9][A-Za-z0-9_-]*?__(\*|[A-Za-z0-9_-]+)")


def is_server_tool_name(name: str) -> bool:
    """Return True for a valid name of a server's tool, and for `mcp__server__*`, all its tools."""
    return _BROUGHT.fullmatch(name) is not None
