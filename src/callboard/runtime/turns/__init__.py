"""Effects of turns: model calls, tool calls, compaction and worktrees."""
