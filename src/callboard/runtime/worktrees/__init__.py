"""Git worktrees of children, and their merges."""
