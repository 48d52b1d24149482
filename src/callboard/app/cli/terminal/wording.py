"""Translation of API problems, fields and parts into the terms of the command line."""

from __future__ import annotations

import re

import msgspec

from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.errors import Code, Problem
from callboard.contracts.facts.turn import InputSource
from callboard.contracts.refs import MissingReason, MissingRef
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.exchange.handoff import HandoffNews, HandoffPart
from callboard.contracts.rows.part import PartState
from callboard.contracts.rows.subagent import NotificationPart
from callboard.contracts.text.sentences import format_count, punctuate, to_sentence

from .output import to_line

#: Hints of codes that a verb resolves.
_HINTS: dict[Code, str] = {
    "unknown_session": "`callboard sessions` lists the sessions.",
    "unknown_workspace": "`callboard up --folder FOLDER` opens one.",
    "unknown_thread": "`callboard facts SESSION --json` shows the threads.",
    "unknown_artifact": "`callboard artifacts SESSION` lists the artifacts.",
    "artifact_deleted": "`callboard artifacts SESSION` lists the artifacts.",
    "unknown_secret": "`callboard secrets` lists the secrets.",
    "unknown_turn": "`callboard view SESSION` shows the turns.",
    "unknown_action": "`callboard view SESSION` shows pending questions.",
    "session_archived": "Unarchive it in the workbench: `callboard` opens it.",
    "unknown_job": "`callboard job list SESSION` lists the jobs.",
    "unknown_task": "`callboard job show SESSION` shows the items.",
    "job_item_done": "`callboard job show SESSION` shows its result.",
    "task_not_ready": "`callboard job show SESSION` shows the items.",
    "task_not_paused": "`callboard job show SESSION` shows its status.",
    "task_paused": "`callboard job resume SESSION` continues it.",
    "trust_changed": "`callboard trust` shows the current requests.",
    "gap": "`callboard view SESSION` shows the current state.",
}
#: Arguments and options by the field of the command.
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
    "name": "NAME",
}
#: Fields that are not ordinary words.
_A_FIELD = re.compile(r"\b(?:sessionId|workspaceId|taskId)\b")
#: Placeholders for turns without a typed prompt.
INPUT_PLACEHOLDERS: dict[InputSource, str] = {"inbox": "(messages from its inbox)", "schedule": "(scheduled)"}
#: Text of the state `lost`.
PROCESS_ENDED = "process ended"
#: States of a plan that is not final.
PLAN_STATES: dict[PartState, str] = {"streaming": "so far", "interrupted": "not finished"}
_NEWS: dict[HandoffNews, str] = {
    "requested": "{source} hands off",
    "accepted": "accepted the handoff of {source}",
    "rejected": "{target} rejected the handoff",
    "returned": "{target} returned the handoff",
    "expired": "{target} did not answer in time",
}
_MISSING: dict[MissingReason, str] = {
    "not_found": "does not exist",
    "ambiguous": "is ambiguous",
    "outside_folder": "is outside the folder",
    "denied": "may not be read",
    "unreadable": "cannot be read",
    "too_large": "is too large",
    "deleted": "was deleted",
    "erased": "was erased",
}
_A_COMMAND = re.compile(rf"\b(?:{'|'.join(map(re.escape, COMMANDS))})\b")


def translate_problem(problem: Problem) -> Problem:
    """Return the problem in terms of the command line, without hints that only an API client could follow."""
    hint = problem.hint
    if not hint or _A_COMMAND.search(hint):
        hint = _HINTS.get(problem.code, "")
    hint = _A_FIELD.sub(lambda match: _FIELDS[match[0]], hint)
    return msgspec.structs.replace(problem, hint=hint, field=_FIELDS.get(problem.field, problem.field))


def format_store_counts(streams: int, facts: int, blobs: int) -> str:
    """Describe how much a store or a backup contains."""
    return f"{format_count(streams, 'stream')}, {format_count(facts, 'fact')}, {format_count(blobs, 'blob')}"


def format_missing(missing: MissingRef) -> str:
    """Describe a reference that could not be resolved."""
    return f"{to_line(missing.ref)} {_MISSING[missing.reason]}"


def format_outcome(prompt: str, outcome: str) -> str:
    """Return a question and its outcome as separate sentences: the question may have several."""
    return f"{punctuate(to_line(prompt))} {to_sentence(outcome)}"


def format_finalization(plain_text: bool) -> str:
    """Return the note for a result in plain text; empty for a finalized result."""
    return " (plain text, not finalized)" if plain_text else ""


def format_notice(part: NotificationPart | HandoffPart | RemoteStatusPart, width: int) -> str:
    """Format a message from another agent, or the state of a remote task, in at most `width` characters."""
    match part:
        case NotificationPart():
            text = f"⇐ {part.agent_id}: {part.status.replace('_', ' ')}{format_finalization(part.plain_text)}. {part.summary}"
        case HandoffPart():
            news = _NEWS[part.news].format(source=part.source, target=part.target)
            text = f"⇐ {news}: {part.message}" if part.message else f"⇐ {news}"
        case RemoteStatusPart():
            delivered = f" It delivered {', '.join(part.artifacts)}." if part.artifacts else ""
            message = f" {part.message.text}" if part.message.text else ""
            text = f"~ remote task: {part.task_state.replace('_', ' ')}.{message}{delivered}"
    return to_line(text, width)
