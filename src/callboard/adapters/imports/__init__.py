"""Past sessions of other coding agents, read from their transcripts. Transcripts are never changed.

Modules:
    past: Past sessions and turns of any product.
    claude_code: Transcripts of Claude Code.
    claude_agents: Transcripts of Claude Code's subagents.
    codex: Rollouts of Codex.
    diffs: File changes of past edits.
"""
