"""Which commands grant more permission, and the service that refuses them to a page without a confirmation."""

from __future__ import annotations

from typing import Any

from callboard.contracts.commands import COMMANDS, OpenWorkspace
from callboard.contracts.commands.actions import RespondAction
from callboard.contracts.commands.base import Command
from callboard.contracts.commands.trust import ResolvePermission
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.runtime import CommandService
from callboard.contracts.scope import Actor

from ..requests import PAGE

#: Commands that always need a confirmation: they change what is allowed, trusted or run outside the sandbox.
GRANTING = frozenset({"trust_workspace", "add_rule", "revoke_rule", "update_settings", "set_secret", "remove_secret"})
_ALWAYS = tuple(COMMANDS[name].command for name in sorted(GRANTING))


def grants_permission(command: Command) -> bool:
    """Return whether the command grants more than one call, or changes what is allowed from now on."""
    match command:
        case RespondAction() | ResolvePermission():
            return command.decision == "approve" and command.scope != "once"
        case OpenWorkspace():
            return command.wide
        case _:
            return isinstance(command, _ALWAYS)


class ConfirmedCommands:
    """Commands as the page may give them: one that grants more permission is refused on every route but its own."""

    def __init__(self, commands: CommandService) -> None:
        self._commands = commands

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        """Carry the command out. Raises Refusal `confirmation_required`, and what the command itself refuses."""
        if actor.id == PAGE and grants_permission(command):
            raise confirmation_required()
        return await self._commands.submit(command, key=key, actor=actor)


def confirmation_required() -> Refusal:
    """Return the refusal of a command that a page sent without a valid confirmation."""
    return Refusal(
        "confirmation_required",
        "This grants more permission and was not confirmed on the page.",
        field="Callboard-Confirmation",
        hint="Open it on the page and confirm it there, or use the command line.",
    )
