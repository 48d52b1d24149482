"""Agents that are not of our loop, at work: a prompt is a model call of ours, and what comes of it becomes outcomes."""

from .a2a_prompt import A2aPromptRunner
from .acp_prompt import AcpPromptRunner

__all__ = ["A2aPromptRunner", "AcpPromptRunner"]
