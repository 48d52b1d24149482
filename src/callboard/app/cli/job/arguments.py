"""What a job is made of, as it is given on a command line."""

from __future__ import annotations

import sys
from pathlib import Path

from callboard.contracts.commands.jobs import CreateJob, JobItemGiven
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import PermissionMode

from ..terminal.output import to_line

#: The most items of a job; the longest of them and the longest title, in characters.
MOST_ITEMS, LONGEST_ITEM, LONGEST_TITLE = 500, 8192, 200


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
    """The command, without a session where a new one is meant. Raises Refusal `invalid_input`."""
    if not instructions.strip():
        raise _wrong("The instructions are empty.", "INSTRUCTIONS", "Say what is to be done with each item.")
    if len(title) > LONGEST_TITLE:
        raise _wrong(f"The title has {len(title)} characters.", "--title", f"It has room for {LONGEST_TITLE}.")
    return CreateJob(
        session_id=session or None,
        title=title.strip() or to_line(instructions.strip().splitlines()[0], LONGEST_TITLE),
        instructions=instructions,
        items=tuple(JobItemGiven(input=item) for item in items),
        agent=agent or None,
        parallel=parallel,
        permission_mode=permission,
    )


def read_items(named: tuple[str, ...], file: str) -> tuple[str, ...]:
    """The items that are named, and behind them those of the file, or of standard input where that is `-`: one a line without
    the room around it. Raises Refusal `invalid_input` where there are none, or too many, where one is too long, and where one
    that is named is empty."""
    if any(not item.strip() for item in named):
        raise _wrong("An item is empty.", "ITEM", "Leave it out, or say what is to be worked on.")
    lines = _read(file).split("\n") if file else ()
    items = (*named, *(line.strip() for line in lines if line.strip()))
    if not items:
        nothing = f"There is no item in {_name(file)}." if file else "There is nothing to work on."
        raise _wrong(nothing, "ITEM", "Name items behind the instructions, or a file with one a line: --items FILE.")
    if len(items) > MOST_ITEMS:
        raise _wrong(
            f"There are {len(items):,} items; a job has room for {MOST_ITEMS}.", "ITEM", "Make several jobs of them."
        )
    for number, item in enumerate(items, start=1):
        if len(item) > LONGEST_ITEM:
            told = f"Item {number} has {len(item):,} characters; there is room for {LONGEST_ITEM:,}."
            raise _wrong(told, "ITEM", "Put it into a file, and name that.")
    return items


def _read(file: str) -> str:
    hint = "Give a text file with one item a line, or - for standard input."
    try:
        return sys.stdin.read() if file == "-" else Path(file).expanduser().read_text("utf-8-sig")
    except OSError as error:
        raise _wrong(f"{file} cannot be read: {error.strerror}.", "--items", hint) from error
    except UnicodeDecodeError as error:
        raise _wrong(f"{_name(file)} is no text in UTF-8.", "--items", hint) from error


def _name(file: str) -> str:
    return "standard input" if file == "-" else file


def _wrong(message: str, field: str, hint: str) -> Refusal:
    return Refusal("invalid_input", message, field=field, hint=hint)
