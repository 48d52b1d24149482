"""External agents over the Agent Client Protocol, such as Claude Code, Codex, Gemini CLI, OpenCode and Goose.

The agent's standard input and output carry the protocol. Needs the extra `acp`.
"""

from .agents import AcpAgents
from .detect import InstalledAgent, detect_agents

__all__ = ["AcpAgents", "InstalledAgent", "detect_agents"]
