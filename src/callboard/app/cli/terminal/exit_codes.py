"""Exit codes.

0    success; `run`: the turn completed; `job`: all items are done
1    failure; `run`: of the model, the agent or the disk; `job`: items failed
2    invalid request: usage, settings, an unknown id
3    another client stopped the turn, or cancelled or paused the job, or its process ended
4    refusal: by the current state, by a rule, policy or person, or because no person could approve
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
#: Failures of a turn whose agent was not allowed to start or to continue.
_NOT_ALLOWED: frozenset[str] = frozenset(
    {"person_denied", "policy_denied", "rule_denied", "hook_denied", "nobody_there", "approval_expired"}
)


def work_exit_code(state: str, *, cause: str = "", unapproved: int = 0, by_hand: bool) -> int:
    """Return the exit code of a turn or a job that ended.

    Args:
        cause: Code of a failure, or cause of an interrupt.
        unapproved: Number of requests that no person could approve or answer.
        by_hand: Whether Ctrl-C ended it.
    """
    match state:
        case "completed":
            return REFUSED if unapproved else DONE
        case "failed":
            return REFUSED if unapproved or cause in _NOT_ALLOWED else FAILED
        case _ if cause == "storage":
            return FAILED
        case _:
            return ENDED_BY_PERSON if by_hand else INTERRUPTED


def find_exit_code(code: Code) -> int:
    """Return the exit code of a refusal."""
    if code in _OF_THE_REQUEST or code.startswith(("unknown_", "bad_")):
        return WRONG
    return FAILED if code in _OF_THE_MACHINE else REFUSED
