"""Prefixes of commands that a rule may allow with any arguments."""

from __future__ import annotations

import re

from .parser import parse
from .programs import NAMED_RUNS, NAMING_GIT, RUNNING_SUBCOMMANDS, WITH_SUBCOMMAND, can_run_arguments

#: Characters with which a command may be more than one program with its arguments, in any shell.
_COMPOUND = re.compile(r"[;&|`$()<>\\\x00-\x08\x0a-\x1f\x7f]")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def is_plain(command: str) -> bool:
    """Return True for one program with its arguments: no list, pipe, expansion, redirection or second line.

    Rules that allow are strict, so both the grammar and a list of characters must agree.
    """
    return bool(command.strip()) and _COMPOUND.search(command) is None and parse(command).is_plain


def find_prefix(command: str) -> str:
    """Return the prefix of a plain command that a rule may allow with any arguments; empty if none is safe.

    Example:
        find_prefix("git status -s") == "git status"
        find_prefix("env git status") == ""
    """
    if not is_plain(command):
        return ""
    words = command.split(" ")
    first = words[0]
    if not _is_safe(first):
        return ""
    if first not in WITH_SUBCOMMAND:
        return first
    if len(words) > 2 and words[1] in ("run", "exec") and first in NAMED_RUNS:
        return " ".join(words[:3]) if _is_safe(words[2]) else ""
    if len(words) == 1 or words[1] in RUNNING_SUBCOMMANDS or (first == "git" and words[1] in NAMING_GIT):
        return ""
    return " ".join(words[:2]) if _is_safe(words[1]) else ""


def _is_safe(word: str) -> bool:
    return _PLAIN_WORD.fullmatch(word) is not None and not can_run_arguments(word)
