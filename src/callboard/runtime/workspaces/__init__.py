"""Workspaces: folders with their settings, rules and sessions."""
