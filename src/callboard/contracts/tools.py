"""The names of all tools that an agent's list can hold beside `*`."""

from __future__ import annotations

import re

from .commands.process import PROCESS_TOOLS
from .team_tools import TEAM_TOOLS

#: Looks for tools of servers that are not told at first; who has such tools has this one.
FIND_TOOLS = "FindTools"
#: Reads on in the output of an earlier call; who has Bash has this one.
READ_OUTPUT = "ReadOutput"
#: The tools of a folder.
FOLDER_TOOLS = ("Bash", "Edit", "Finalize", FIND_TOOLS, "Glob", "Grep", "Read", READ_OUTPUT, "Write", *PROCESS_TOOLS)
#: What agents that bring tools of their own ask for under these names, beside those of a folder.
FOREIGN_TOOLS = ("Delete", "Fetch", "Move", "Other", "SwitchMode", "Think")
TOOL_NAMES = frozenset((*FOLDER_TOOLS, *FOREIGN_TOOLS, *TEAM_TOOLS))
EVERY_TOOL = "*"

_BROUGHT = re.compile(r"mcp__[A-Za-z0-9][A-Za-z0-9_-]*?__(\*|[A-Za-z0-9_-]+)")


def may_be_brought(name: str) -> bool:
    """True for the name of a tool that a server may bring, and for `mcp__server__*`, all that it brings."""
    return _BROUGHT.fullmatch(name) is not None
