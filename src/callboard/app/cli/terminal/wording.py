"""What the API says, in words of the command line: hints name verbs in place of commands, fields what was typed, and what
others told an agent reads as a sentence."""

from __future__ import annotations

import re

import msgspec

from callboard.contracts.commands import COMMANDS
from callboard.contracts.errors import Code, Problem
from callboard.contracts.facts.turn import InputSource
from callboard.contracts.refs import MissingReason, MissingRef
from callboard.contracts.rows import HandoffPart, NotificationPart, RemoteStatusPart
from callboard.contracts.rows.conversation import HandoffNews, PartState
from callboard.contracts.text.sentences import punctuated, sentence

from .output import to_line

#: The hints of codes whose way out is a verb.
_HINTS: dict[Code, str] = {
    "unknown_session": "`callboard sessions` lists what there is.",
    "unknown_workspace": "`callboard up --folder FOLDER` opens one.",
    "unknown_turn": "`callboard view SESSION` shows the turns.",
    "unknown_action": "`callboard view SESSION` shows what waits for an answer.",
    "session_archived": "Take it out of the archive in the workbench: `callboard` opens it.",
    "unknown_job": "`callboard job list SESSION` lists them.",
    "job_item_done": "`callboard job show SESSION` tells what it came to.",
    "task_not_ready": "`callboard job show SESSION` tells how the items stand.",
    "task_paused": "`callboard job resume SESSION` lets it go on.",
    "trust_changed": "`callboard trust` shows what they ask for now.",
    "gap": "`callboard view SESSION` shows how it stands now.",
}
#: What the fields of commands are called where they are typed.
_FIELDS = {
    "sessionId": "SESSION",
    "text": "PROMPT",
    "path": "--folder",
    "workspaceId": "--folder",
    "taskId": "--task",
    "threadId": "--thread",
    "jobId": "JOB",
    "itemId": "ITEM",
    "agent": "--agent",
}
#: Those of them that are no words of a sentence.
_A_FIELD = re.compile(r"\b(?:sessionId|workspaceId|taskId)\b")
#: What stands in place of words where nobody said any.
INPUT_PLACEHOLDERS: dict[InputSource, str] = {"inbox": "(what others sent it)", "schedule": "(its time came)"}
#: A plan that is not the last one of its run.
PLAN_STATES: dict[PartState, str] = {"streaming": "so far", "interrupted": "not finished"}
_NEWS: dict[HandoffNews, str] = {
    "requested": "{source} hands over",
    "accepted": "the handoff of {source} was accepted for it",
    "rejected": "{target} did not take the handoff",
    "returned": "{target} gives back what was handed over",
    "expired": "{target} did not answer in time",
}
_MISSING: dict[MissingReason, str] = {
    "not_found": "is not there",
    "ambiguous": "may be several",
    "outside_folder": "is outside the folder",
    "denied": "may not be read",
    "unreadable": "cannot be read",
    "too_large": "is too large",
    "deleted": "was deleted",
    "erased": "was erased",
}
_A_COMMAND = re.compile(rf"\b(?:{'|'.join(map(re.escape, COMMANDS))})\b")


def translate_problem(problem: Problem) -> Problem:
    """The problem as it helps at a command line. A hint that only a client of the API could follow is left out."""
    hint = problem.hint
    if not hint or _A_COMMAND.search(hint):
        hint = _HINTS.get(problem.code, "")
    hint = _A_FIELD.sub(lambda found: _FIELDS[found[0]], hint)
    return msgspec.structs.replace(problem, hint=hint, field=_FIELDS.get(problem.field, problem.field))


def format_missing(one: MissingRef) -> str:
    """What was named and could not be given, and why not."""
    return f"{to_line(one.ref)} {_MISSING[one.reason]}"


def format_count(count: int, thing: str) -> str:
    """So many of a thing."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def format_outcome(prompt: str, then: str) -> str:
    """What a person was asked, and what came of it as a sentence of its own: a question may be several sentences."""
    return f"{punctuated(to_line(prompt))} {sentence(then)}"


def finalization_note(plain_text: bool) -> str:
    """Return the note beside a result that was answered in plain text; empty for a result that was finalized."""
    return " (plain text, not finalized)" if plain_text else ""


def format_notice(part: NotificationPart | HandoffPart | RemoteStatusPart, room: int) -> str:
    """What a turn was told by others, or tells of an agent elsewhere, on a line of at most so many characters."""
    match part:
        case NotificationPart():
            text = f"⇐ {part.agent_id}: {part.status.replace('_', ' ')}{finalization_note(part.plain_text)}. {part.summary}"
        case HandoffPart():
            who = _NEWS[part.news].format(source=part.source, target=part.target)
            text = f"⇐ {who}: {part.message}" if part.message else f"⇐ {who}"
        case RemoteStatusPart():
            gave = f" It delivered {', '.join(part.artifacts)}." if part.artifacts else ""
            said = f" {part.message.text}" if part.message.text else ""
            text = f"~ its task there: {part.task_state.replace('_', ' ')}.{said}{gave}"
    return to_line(text, room)
