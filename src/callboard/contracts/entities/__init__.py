"""Shapes of entities that facts, commands and rows share."""
