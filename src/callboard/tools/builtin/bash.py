"""The tool Bash: a shell command, sandboxed if possible."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal

NAME = "Bash"
DESCRIPTION = """Run a shell command in the folder and return its output. Each call starts a new shell: only files persist, and
all processes end with the command. There is no input and no terminal, so use flags that avoid prompts. For a server or a
long command set background: the call returns a process_id immediately, `read_process` reads the output, and `stop_process` or
the end of the session stops it. The sandbox shows only the folder, the system's programs and an empty /tmp. It has no network
except its own loopback, unless the settings allow one. agents/, .callboard/ and .git/ are read-only. To read, search and
change files use `read`, `grep`, `glob`, `edit` and `write` instead of shell commands."""

MAX_TIMEOUT_MS = 86_400_000
DEFAULT_TIMEOUT_MS = 120_000
MAX_COMMAND_BYTES = 64 * 1024


class BashArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of Bash. `timeout` is in milliseconds and does not apply in the background."""

    command: Annotated[str, Meta(description="Command to run.", min_length=1)]
    timeout: Annotated[
        int,
        Meta(
            description="Maximum run time in milliseconds. The settings may allow less.",
            ge=1,
            le=MAX_TIMEOUT_MS,
        ),
    ] = DEFAULT_TIMEOUT_MS
    background: Annotated[bool, Meta(description="Return a process_id immediately and keep the command running.")] = (
        False
    )
    description: Annotated[str, Meta(description="Purpose of the command, in a few words.", max_length=500)] = ""


def check_command(arguments: BashArguments) -> None:
    """Check that a shell can run the command. Raises Refusal `tool_arguments`."""
    if "\0" in arguments.command:
        raise Refusal("tool_arguments", "command: contains a NUL byte.", field="command", hint="Remove it.")
    try:
        size = len(arguments.command.encode())
    except UnicodeEncodeError as error:
        raise Refusal(
            "tool_arguments", "command: is not valid Unicode.", field="command", hint="Remove unpaired surrogates."
        ) from error
    if size > MAX_COMMAND_BYTES:
        raise Refusal(
            "tool_arguments",
            f"command: has {size:,} bytes, at most {MAX_COMMAND_BYTES:,}.",
            field="command",
            hint="Write it to a script file and run that.",
        )
