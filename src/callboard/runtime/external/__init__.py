"""Agents that are programs of their own, at work: a prompt is a model call of ours, and what comes of it becomes outcomes."""

from .prompting import Prompting

__all__ = ["Prompting"]
