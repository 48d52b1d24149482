"""Git worktrees of subagents."""
