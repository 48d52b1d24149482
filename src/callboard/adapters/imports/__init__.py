"""Past sessions of other coding agents, read from where those keep them. Reading changes nothing there.

past           a past session and its turns, whatever it was made with
claude_code    Claude Code's transcripts
claude_agents  those of its subagents
codex          Codex's rollouts
diffs          what a past edit did to a file
"""
