"""Workspaces: their hosts, folders, uploads and effective rules."""
