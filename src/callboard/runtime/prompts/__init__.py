"""Prompts: instructions, history and context of a model call."""
