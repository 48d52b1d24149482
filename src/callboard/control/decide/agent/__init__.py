"""Agents of a session: addressing, definition, and agents of kind background."""
