"""Turns: start, model, context and tools of a run, and its next step."""
