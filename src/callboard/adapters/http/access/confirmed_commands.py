"""Commands that grant more permissions, and a service that refuses them to the page without a confirmation."""

from __future__ import annotations

from typing import Any

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.base import COMMANDS, Command
from callboard.contracts.commands.permission import ResolvePermission
from callboard.contracts.commands.session import OpenWorkspace
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.runtime import CommandService
from callboard.contracts.scope import Actor

from ..requests import PAGE

#: Commands that always need a confirmation: they change what is allowed, trusted or run outside the sandbox.
GRANTING = frozenset({"trust_workspace", "add_rule", "revoke_rule", "update_settings", "set_secret", "remove_secret"})
_ALWAYS = tuple(COMMANDS[name].command for name in sorted(GRANTING))


def is_permission_grant(command: Command) -> bool:
    """Return whether the command allows more than one call, or changes permissions."""
    match command:
        case RespondAction() | ResolvePermission():
            return command.decision == "approve" and command.scope != "once"
        case OpenWorkspace():
            return command.wide
        case _:
            return isinstance(command, _ALWAYS)


class ConfirmedCommands:
    """Command service for routes without confirmations: from the page, it refuses commands that grant permissions."""

    def __init__(self, commands: CommandService) -> None:
        self._commands = commands

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        """Submit the command. Raises Refusal `confirmation_required`, or the command's own refusal."""
        if actor.id == PAGE and is_permission_grant(command):
            raise build_confirmation_refusal()
        return await self._commands.submit(command, key=key, actor=actor)


def build_confirmation_refusal() -> Refusal:
    """Return the refusal of a command that a page sent without a valid confirmation."""
    return Refusal(
        "confirmation_required",
        "This command grants more permissions and needs a confirmation on the page.",
        field="Callboard-Confirmation",
        hint="Confirm it on the page, or use the command line.",
    )
