"""Subagents: spawn, slots, waits, worktrees and end."""
