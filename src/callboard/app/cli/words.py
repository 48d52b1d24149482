"""What the API says, in words of the command line: hints name verbs in place of commands, fields what was typed."""

from __future__ import annotations

import re

import msgspec

from callboard.contracts.commands import COMMANDS
from callboard.contracts.errors import Code, Problem

#: The hints of codes whose way out is a verb.
_HINTS: dict[Code, str] = {
    "unknown_session": "`callboard sessions` lists what there is.",
    "unknown_workspace": "`callboard up --folder FOLDER` opens one.",
    "unknown_turn": "`callboard view SESSION` shows the turns.",
    "unknown_action": "`callboard view SESSION` shows what waits for an answer.",
    "session_archived": "Take it out of the archive in the workbench: `callboard` opens it.",
    "gap": "`callboard view SESSION` shows how it stands now.",
}
#: What the fields of commands are called where they are typed.
_FIELDS = {"sessionId": "SESSION", "text": "PROMPT", "path": "--folder", "workspaceId": "--folder"}
_A_COMMAND = re.compile(rf"\b(?:{'|'.join(map(re.escape, COMMANDS))})\b")


def in_words_of_the_line(problem: Problem) -> Problem:
    """The problem as it helps at a command line. A hint that only a client of the API could follow is left out."""
    hint = problem.hint
    if _A_COMMAND.search(hint):
        hint = _HINTS.get(problem.code, "")
    return msgspec.structs.replace(problem, hint=hint, field=_FIELDS.get(problem.field, problem.field))
