"""Agents that speak the Agent Client Protocol over their standard input and output, such as Claude Code, Codex, Gemini CLI,
OpenCode and Goose. Needs the extra `acp`."""

from .agents import AcpAgents
from .detect import InstalledAgent, installed_agents

__all__ = ["AcpAgents", "InstalledAgent", "installed_agents"]
