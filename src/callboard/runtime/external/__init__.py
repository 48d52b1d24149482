"""Agents that are not of our loop, at work: a prompt is a model call of ours, and what comes of it becomes outcomes."""

from .a2a_prompt import RemotePrompting
from .acp_prompt import Prompting

__all__ = ["Prompting", "RemotePrompting"]
