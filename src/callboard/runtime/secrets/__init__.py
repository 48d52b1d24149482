"""Redaction of what enters the runtime, and values for the tools that run."""
