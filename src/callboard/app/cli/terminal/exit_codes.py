"""What the exit codes mean.

0    done; of `run`: the turn completed; of `job`: all items are done
1    it failed; of `job`: items failed
2    the request was wrong: usage, settings, an id that names nothing
3    of `run`: somebody else stopped the turn; of `job`: somebody else cancelled or paused it
4    refused: by the state of things, or because an approval was needed and nobody was there to give it
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
    """The exit code of a refusal."""
    if code in _OF_THE_REQUEST or code.startswith(("unknown_", "bad_")):
        return WRONG
    return FAILED if code in _OF_THE_MACHINE else REFUSED
