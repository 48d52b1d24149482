"""Texts of the milestones of `callboard up`, and warnings about settings, trust and shared folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO, assert_never

from callboard.contracts.settings import SettingsProblem
from callboard.contracts.text.sentences import format_count

from ...folder_use import FolderUse
from ...hosting.process import ROOT_RISK, is_root
from ...hosting.serve import (
    ForcedMilestone,
    Milestones,
    ReadyMilestone,
    StartingMilestone,
    StoppedMilestone,
    StoppingMilestone,
)
from ...settings.problems import describe_effect, describe_problem
from .output import Style, strip_controls


def format_milestone(milestone: Milestones, stream: TextIO) -> str:
    """Format a milestone for a person."""
    style = Style(stream)
    match milestone:
        case StartingMilestone():
            return style.dim(f"Callboard {milestone.version} is starting on {strip_controls(milestone.folder)}")
        case ReadyMilestone():
            return _format_ready(milestone, style)
        case StoppingMilestone():
            sessions = format_count(milestone.working, "running session")
            return f"Stopping.{f' {sessions} will be interrupted.' if milestone.working else ''}"
        case StoppedMilestone():
            sessions = format_count(milestone.sessions, "session")
            return f"Stopped. {sessions} kept in {milestone.store}; `callboard` continues from there."
        case ForcedMilestone():
            return f"Stopped immediately. All acknowledged work is kept in {milestone.store}."
        case _:
            assert_never(milestone)


def _format_ready(ready: ReadyMilestone, style: Style) -> str:
    warnings = [format_untrusted(ready.untrusted)] if ready.untrusted else []
    warnings += [format_shared_folder(use) for use in ready.also_served_by]
    note = style.dim(f"  {format_link_note(ready.link_expires_s)}")
    if ready.running:
        program = "callboard" if ready.stays else "callboard run"
        notes = [] if ready.stays else ["The page closes with that run, when its turn ends."]
        if ready.unused_models:
            notes.append(format_unused_models(ready.unused_models, ready.pid, ready.model))
        lines = [f"Opened in the running {program} (process {ready.pid}):", f"  {style.bold(ready.link)}", note]
        return "\n".join([*lines, *map(style.warn, [*notes, *warnings])])
    if is_root():
        warnings.append(f"Callboard runs as root. {ROOT_RISK}")
    return "\n".join(
        (
            f"Ready: {style.bold(ready.link)}",
            note,
            f"  folder   {strip_controls(ready.folder)}",
            f"  model    {strip_controls(ready.model)}",
            f"  data     {ready.home}",
            *map(style.warn, warnings),
            style.dim("Ctrl-C stops Callboard; the log is kept."),
        )
    )


def format_link_note(seconds: int) -> str:
    """Describe how long an address opens the page."""
    return f"The address works once, for {seconds} seconds. Run callboard again for another."


def format_unused_models(models: Sequence[str], pid: int, current: str) -> str:
    """Warn about models that are set here, but unknown to the running process."""
    return (
        f"Not used: {strip_controls(', '.join(models))}, set in this terminal or in settings.toml. "
        f"Process {pid} continues with {strip_controls(current)}.\n"
        "To use it, stop that process and start again, or set CALLBOARD_HOME to another folder."
    )


def format_untrusted(count: int) -> str:
    """Warn about permissions that a folder's own files request without trust."""
    permissions = format_count(count, "extra permission")
    return f"This folder's own files request {permissions}, not granted. `callboard trust` shows them and asks."


def format_shared_folder(use: FolderUse) -> str:
    """Warn about a process with another state folder that serves the same project folder."""
    return (
        f"Process {use.pid} serves this folder too, with the state folder {strip_controls(use.home)}. "
        "The two processes share no sessions, approvals or queued work, and can change the same files. "
        "Stop one of them, or use one state folder."
    )


def format_settings_problem(problem: SettingsProblem) -> str:
    """Describe a problem in a settings file, and which settings apply until it is fixed."""
    return f"{describe_problem(problem)} {describe_effect(problem)}"
