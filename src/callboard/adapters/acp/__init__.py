"""Agents that speak the Agent Client Protocol over their standard input and output, such as Claude Code, Codex, Gemini CLI,
OpenCode and Goose. Needs the extra `acp`."""

from .agents import AcpAgents
from .detect import Installed, installed

__all__ = ["AcpAgents", "Installed", "installed"]
