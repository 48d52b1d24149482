"""Exit codes.

0    success; `run`: the turn completed; `job`: all items are done
1    failure; `job`: items failed
2    invalid request: usage, settings, an unknown id
3    `run`: another client stopped the turn; `job`: another client cancelled or paused it
4    refusal: by the current state, or for an approval that no user could give
130  ended by Ctrl-C
"""

from __future__ import annotations

from callboard.contracts.errors import Code

DONE, FAILED, WRONG, INTERRUPTED, REFUSED, ENDED_BY_PERSON = 0, 1, 2, 3, 4, 130

_OF_THE_REQUEST: frozenset[Code] = frozenset(
    {"invalid_input", "too_large", "bad_settings", "bad_scenario", "no_folder", "folder_too_broad"}
)
_OF_THE_MACHINE: frozenset[Code] = frozenset(
    {
        "conflict",
        "fenced",
        "read_only",
        "store_locked",
        "store_unusable",
        "chain_broken",
        "blob_damaged",
        "rows_damaged",
        "facts_unreadable",
        "answer_unreadable",
        "gap",
        "store_full",
        "unauthenticated",
        "forbidden_origin",
        "unreachable",
        "internal",
    }
)


def exit_code(code: Code) -> int:
    """Return the exit code of a refusal."""
    if code in _OF_THE_REQUEST or code.startswith(("unknown_", "bad_")):
        return WRONG
    return FAILED if code in _OF_THE_MACHINE else REFUSED
