"""Prompts of external agents. Each prompt is one model call, and its events become outcomes."""

from .a2a_prompt import A2aPromptRunner
from .acp_prompt import AcpPromptRunner

__all__ = ["A2aPromptRunner", "AcpPromptRunner"]
