"""Bash: a shell command, sandboxed if possible."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

NAME = "Bash"
DESCRIPTION = """Run a shell command in the folder. Each call starts a new shell: only files persist between calls, and every
process ends with its command. With background the call answers at once and the command keeps running: `read_process` reads
its output, `stop_process` ends it, and it ends with the session. There is no input and no terminal. The sandbox shows only
the folder, the system's programs and an empty /tmp. It has no network except its own loopback, unless the settings allow
one. agents/, .callboard/ and .git/ are read-only. Use the other tools to read, search and change files."""

LONGEST_MS = 86_400_000
DEFAULT_MS = 120_000
LONGEST_COMMAND = 64 * 1024


class BashArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Bash. `timeout` is in milliseconds and does not apply in the background."""

    command: Annotated[str, Meta(description="The command.", min_length=1)]
    timeout: Annotated[
        int,
        Meta(
            description="Maximum run time in milliseconds. The settings may allow less.",
            ge=1,
            le=LONGEST_MS,
        ),
    ] = DEFAULT_MS
    background: Annotated[
        bool, Meta(description="Keep running after the call, which answers at once with a process_id.")
    ] = False
    description: Annotated[str, Meta(description="What the command does, in a few words.", max_length=500)] = ""


def check_command(asked: BashArguments) -> None:
    """Check that a shell can run the command.

    Raises:
        Refusal: `tool_arguments`.
    """
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
