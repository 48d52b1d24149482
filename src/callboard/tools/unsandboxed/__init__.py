"""Checks of programs that run outside the sandbox: hooks, tool servers and external agents."""
