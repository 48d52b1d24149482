"""Arguments of a new job."""

from __future__ import annotations

import sys
from pathlib import Path

from callboard.contracts.commands.job import CreateJob, JobItemInput
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import PermissionMode

from ..terminal.output import to_line

#: Maximum number of items; maximum characters of an item and of the title.
MAX_ITEMS, MAX_ITEM_CHARS, MAX_TITLE_CHARS = 500, 8192, 200


def build_command(
    instructions: str,
    items: tuple[str, ...],
    *,
    session: str,
    title: str,
    agent: str,
    parallel: int | None,
    permission: PermissionMode | None,
) -> CreateJob:
    """Build the command; without a session for a new one. Raises Refusal `invalid_input`."""
    if not instructions.strip():
        raise _build_refusal("The instructions are empty.", "INSTRUCTIONS", "Describe the task for each item.")
    if len(title) > MAX_TITLE_CHARS:
        raise _build_refusal(f"The title has {len(title)} characters.", "--title", f"Use at most {MAX_TITLE_CHARS}.")
    return CreateJob(
        session_id=session or None,
        title=title.strip() or to_line(instructions.strip().splitlines()[0], MAX_TITLE_CHARS),
        instructions=instructions,
        items=tuple(JobItemInput(input=item) for item in items),
        agent=agent or None,
        parallel=parallel,
        permission_mode=permission,
    )


def read_items(arguments: tuple[str, ...], file: str) -> tuple[str, ...]:
    """Return the items of the command line, then those of the file, one per line; `-` is standard input.

    Raises:
        Refusal: `invalid_input` for no items, too many, one that is too long, or an empty argument.
    """
    if any(not item.strip() for item in arguments):
        raise _build_refusal("An item is empty.", "ITEM", "Remove it, or name the thing to work on.")
    lines = _read(file).split("\n") if file else ()
    items = (*arguments, *(line.strip() for line in lines if line.strip()))
    if not items:
        message = f"No items in {_format_name(file)}." if file else "There are no items."
        raise _build_refusal(
            message, "ITEM", "Name items after the instructions, or a file with one per line: --items FILE."
        )
    if len(items) > MAX_ITEMS:
        raise _build_refusal(
            f"There are {len(items):,} items; a job has at most {MAX_ITEMS}.", "ITEM", "Start several jobs."
        )
    for number, item in enumerate(items, start=1):
        if len(item) > MAX_ITEM_CHARS:
            message = f"Item {number} has {len(item):,} characters; the maximum is {MAX_ITEM_CHARS:,}."
            raise _build_refusal(message, "ITEM", "Write it to a file, and name the file.")
    return items


def _read(file: str) -> str:
    hint = "Name a text file with one item per line, or - for standard input."
    try:
        return sys.stdin.read() if file == "-" else Path(file).expanduser().read_text("utf-8-sig")
    except OSError as error:
        raise _build_refusal(f"{file} cannot be read: {error.strerror}.", "--items", hint) from error
    except UnicodeDecodeError as error:
        raise _build_refusal(f"{_format_name(file)} is not UTF-8 text.", "--items", hint) from error


def _format_name(file: str) -> str:
    return "standard input" if file == "-" else file


def _build_refusal(message: str, field: str, hint: str) -> Refusal:
    return Refusal("invalid_input", message, field=field, hint=hint)
