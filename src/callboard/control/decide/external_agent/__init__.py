"""Prompts of external and remote agents."""
