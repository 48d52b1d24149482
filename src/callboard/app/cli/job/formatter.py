"""A job in words: what happens to its items, line by line, and how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from callboard.contracts.commands.jobs import JobItem, JobItemStatus, JobRead, JobStatus
from callboard.contracts.facts import (
    Fact,
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
)
from callboard.contracts.rows.team import JobItems

from ..terminal.output import Style, to_line
from ..terminal.wording import finalization_note

_WAITS: dict[JobItemStatus, str] = {"waiting": "waits", "running": "at work", "paused": "paused", "cancelling": "ends"}


class JobEvents:
    """The lines of one job. `attempts` says how many of each item there were before."""

    def __init__(self, items: tuple[JobItem, ...], attempts: Mapping[str, int], style: Style, room: int) -> None:
        self._places = {item.item_id: number for number, item in enumerate(items, start=1)}
        self._titles = {item.item_id: item.title for item in items}
        self._attempts = dict(attempts)
        self._style = style
        self._room = room

    def format_item_event(self, task: str, fact: Fact) -> str:
        """The line of what happened to an item; empty where it is no news."""
        style = self._style
        match fact:
            case TaskStarted():
                number = self._attempts[task] = self._attempts.get(task, 0) + 1
                again = f"begins again, attempt {number}" if number > 1 else "begins"
                return self._line(style.dim("+"), task, f"{again} ({fact.assignee})")
            case TaskCompleted():
                return self._line(style.good("✓"), task, f"{finalization_note(fact.plain_text)} {fact.summary}".strip())
            case TaskFailed():
                return self._line(style.bad("✗"), task, f"{fact.code}: {fact.message}")
            case TaskCancelled():
                return self._line(style.warn("■"), task, "cancelled")
            case _:
                return ""

    def _line(self, mark: str, task: str, text: str) -> str:
        return f"{mark} {format_titled(self._places[task], self._titles[task], text, self._room)}"


def format_job_event(fact: Fact, style: Style) -> str:
    """The line of what happened to the job as a whole; empty where its items or its end tell it."""
    match fact:
        case TaskPaused():
            return style.warn(f"Paused{_why(fact.reason)}.")
        case TaskResumed():
            return style.dim(f"Goes on{_why(fact.reason)}.")
        case TaskCancelRequested():
            return style.warn(f"Cancelling{_why(fact.reason)}.")
        case _:
            return ""


def format_item(number: int, item: JobItem, style: Style, room: int) -> str:
    """How an item stands."""
    match item.status:
        case "completed":
            mark, text = style.good("✓"), f"{finalization_note(item.plain_text)} {item.output}".strip()
        case "failed":
            tried = f" ({item.attempts} attempts)" if item.attempts > 1 else ""
            mark, text = style.bad("✗"), f"{item.problem}{tried}"
        case "cancelled":
            mark, text = style.warn("■"), "cancelled"
        case "waiting" | "running" | "paused" | "cancelling":
            who = f" ({item.agent_id})" if item.agent_id else ""
            mark, text = style.dim("·"), f"{_WAITS[item.status]}{who}"
        case _:
            assert_never(item.status)
    return f"  {mark} {format_titled(number, item.title, text, room)}"


def format_titled(number: int, title: str, text: str, room: int) -> str:
    """An item and what is said of it, on a line of so many characters."""
    return to_line(f"{number} {title}: {text}" if text.strip() else f"{number} {title}", room)


def format_counts(items: JobItems) -> str:
    """How many items stand how; those that there are none of are left out, but for what is done."""
    whole = items.waiting + items.running + items.failed + items.completed + items.cancelled
    named = {"failed": items.failed, "at work": items.running, "waiting": items.waiting, "cancelled": items.cancelled}
    more = "".join(f", {count} {name}" for name, count in named.items() if count)
    return f"{items.completed} of {whole} done{more}"


def next_command(status: JobStatus, read: JobRead) -> str:
    """The command line that comes next, for a job that stands so."""
    verb = {"failed": "retry", "paused": "resume"}.get(status, "show")
    return f"callboard job {verb} {read.session_id} {read.job_id}"


def _why(reason: str) -> str:
    return f" ({to_line(reason)})" if reason else ""
