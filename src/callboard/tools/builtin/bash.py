"""Bash: a command in a shell, held in by the sandbox where there is one."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

NAME = "Bash"
DESCRIPTION = """Runs a command in a shell, in the folder. Each call is a shell of its own: nothing but files stays from one
to the next, and what still runs when the command ends is ended. With background it answers at once and goes on:
`read_process` reads its output, `stop_process` ends it, and it ends with the session. There is no input and no terminal. In the
sandbox there is no network but its own loopback unless the settings allow one, agents/, .callboard/ and .git/ cannot be
written, and of the machine only the folder, the system's programs and an empty /tmp are seen. To read, search and change
files use the other tools."""

LONGEST_MS = 86_400_000
DEFAULT_MS = 120_000
LONGEST_COMMAND = 64 * 1024


class BashArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Bash. `timeout` is in milliseconds, and means nothing in the background."""

    command: Annotated[str, Meta(description="The command.", min_length=1)]
    timeout: Annotated[
        int,
        Meta(
            description="The longest that it may run, in milliseconds; the settings may allow less.",
            ge=1,
            le=LONGEST_MS,
        ),
    ] = DEFAULT_MS
    background: Annotated[bool, Meta(description="Go on behind the call, which answers at once with a process_id.")] = (
        False
    )
    description: Annotated[str, Meta(description="What the command does, in a few words.", max_length=500)] = ""


def check(asked: BashArguments) -> None:
    """Raises Refusal `tool_arguments` for a command that no shell can be given."""
    if "\0" in asked.command:
        raise Refusal("tool_arguments", "command: contains a NUL byte.", field="command")
    try:
        size = len(asked.command.encode())
    except UnicodeEncodeError as error:
        raise Refusal("tool_arguments", "command: is not valid Unicode text.", field="command") from error
    if size > LONGEST_COMMAND:
        raise Refusal(
            "tool_arguments",
            f"command: {size:,} bytes, at most {LONGEST_COMMAND:,}. Write a script file.",
            field="command",
        )
