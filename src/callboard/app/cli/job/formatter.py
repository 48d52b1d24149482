"""Formatting of a job, its items and its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from callboard.contracts.commands.job import JobItem, JobRead, JobStatus
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
)
from callboard.contracts.rows.task import JobItems

from ..terminal.output import Style, to_line
from ..terminal.wording import format_finalization


class JobEvents:
    """Formatter of the events of one job. `attempts` counts earlier attempts by item id."""

    def __init__(self, items: tuple[JobItem, ...], attempts: Mapping[str, int], style: Style, width: int) -> None:
        self._numbers = {item.item_id: number for number, item in enumerate(items, start=1)}
        self._titles = {item.item_id: item.title for item in items}
        self._attempts = dict(attempts)
        self._style = style
        self._width = width

    def apply_item_event(self, task: str, fact: Fact) -> str:
        """Count the attempts of an item and format its event; empty for one that needs no line."""
        style = self._style
        match fact:
            case TaskStarted():
                number = self._attempts[task] = self._attempts.get(task, 0) + 1
                event = f"started again, attempt {number}" if number > 1 else "started"
                return self._format_line(style.dim("+"), task, f"{event} ({fact.assignee})")
            case TaskCompleted():
                return self._format_line(
                    style.good("✓"), task, f"{format_finalization(fact.plain_text)} {fact.summary}".strip()
                )
            case TaskFailed():
                return self._format_line(style.bad("✗"), task, f"{fact.code}: {fact.message}")
            case TaskCancelled():
                return self._format_line(style.warn("■"), task, "cancelled")
            case _:
                return ""

    def _format_line(self, mark: str, task: str, text: str) -> str:
        return f"{mark} {format_titled(self._numbers[task], self._titles[task], text, self._width)}"


def format_job_event(fact: Fact, style: Style) -> str:
    """Format an event of the job itself; empty if its items or its end report it."""
    match fact:
        case TaskPaused():
            return style.warn(f"Paused{_format_reason(fact.reason)}.")
        case TaskResumed():
            return style.dim(f"Resumed{_format_reason(fact.reason)}.")
        case TaskCancelRequested():
            return style.warn(f"Cancelling{_format_reason(fact.reason)}.")
        case _:
            return ""


def format_item(number: int, item: JobItem, style: Style, width: int) -> str:
    """Format the state of an item."""
    match item.status:
        case "completed":
            mark, text = style.good("✓"), f"{format_finalization(item.plain_text)} {item.output}".strip()
        case "failed":
            attempts = f" ({item.attempts} attempts)" if item.attempts > 1 else ""
            mark, text = style.bad("✗"), f"{item.problem}{attempts}"
        case "cancelled":
            mark, text = style.warn("■"), "cancelled"
        case "waiting" | "running" | "paused" | "cancelling":
            agent = f" ({item.agent_id})" if item.agent_id else ""
            mark, text = style.dim("·"), f"{item.status}{agent}"
        case _:
            assert_never(item.status)
    return f"  {mark} {format_titled(number, item.title, text, width)}"


def format_titled(number: int, title: str, text: str, width: int) -> str:
    """Format an item and a text on a line of at most `width` characters."""
    return to_line(f"{number} {title}: {text}" if text.strip() else f"{number} {title}", width)


def format_counts(items: JobItems) -> str:
    """Format the number of items by status; zero counts other than completed are omitted."""
    total = items.waiting + items.running + items.failed + items.completed + items.cancelled
    open_or_failed = {
        "failed": items.failed,
        "running": items.running,
        "waiting": items.waiting,
        "cancelled": items.cancelled,
    }
    others = "".join(f", {count} {state}" for state, count in open_or_failed.items() if count)
    return f"{items.completed} of {total} done{others}"


def format_next_command(status: JobStatus, read: JobRead) -> str:
    """Return the next command line for a job in this status."""
    verb = {"failed": "retry", "paused": "resume"}.get(status, "show")
    return f"callboard job {verb} {read.session_id} {read.job_id}"


def _format_reason(reason: str) -> str:
    return f" ({to_line(reason)})" if reason else ""
