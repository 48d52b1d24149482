"""Entities that facts, commands and rows share."""
