"""The names of all tools that an agent's list can hold beside `*`."""

from __future__ import annotations

from .commands.team_tools import TEAM_TOOLS

#: The tools of a folder.
FOLDER_TOOLS = ("Bash", "Edit", "Finalize", "Glob", "Grep", "Read", "Write")
#: What agents that bring tools of their own ask for under these names, beside those of a folder.
FOREIGN_TOOLS = ("Delete", "Fetch", "Move", "Other", "SwitchMode", "Think")
TOOL_NAMES = frozenset((*FOLDER_TOOLS, *FOREIGN_TOOLS, *TEAM_TOOLS))
EVERY_TOOL = "*"
