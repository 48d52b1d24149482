"""Help texts of verbs that send a declared command."""

from __future__ import annotations

from callboard.contracts.commands.base import COMMANDS


def command_help(name: str, details: str = "") -> str:
    """Return the command's summary, as declared, followed by details of the verb."""
    summary = COMMANDS[name].summary
    return f"{summary}\n\n{details}" if details else summary
