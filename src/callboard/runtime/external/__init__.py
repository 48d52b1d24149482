"""Agents that are not of our loop, at work: a prompt is a model call of ours, and what comes of it becomes outcomes."""

from .prompting import Prompting
from .remote import RemotePrompting

__all__ = ["Prompting", "RemotePrompting"]
