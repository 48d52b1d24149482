"""How far `up` is, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO, assert_never

from callboard.contracts.settings import SettingsProblem

from ...folder_use import FolderUse
from ...hosting.process import ROOT_RISK, is_root
from ...hosting.serve import Forced, Milestones, Ready, Starting, Stopped, Stopping
from ...settings.problems import field_suffix
from .output import Style, strip_controls


def format_milestone(milestone: Milestones, stream: TextIO) -> str:
    """The milestone as a person reads it."""
    style = Style(stream)
    match milestone:
        case Starting():
            return style.dim(f"Callboard {milestone.version} is starting on {strip_controls(milestone.folder)}")
        case Ready(running=True):
            who = "callboard run" if not milestone.stays else "callboard"
            ends = "" if milestone.stays else style.warn("\nThat run ends when its turn ends, and this page with it.")
            other = ""
            if milestone.unused_models:
                other = "\n" + style.warn(unused_models_note(milestone.unused_models, milestone.pid, milestone.model))
            held = f"\n{style.warn(untrusted_note(milestone.untrusted))}" if milestone.untrusted else ""
            shared = "".join(f"\n{style.warn(shared_folder_note(one))}" for one in milestone.also_served_by)
            return (
                f"Opened in the {who} that is running (process {milestone.pid}):\n"
                f"  {style.bold(milestone.link)}\n{style.dim(link_note(milestone.link_expires_s))}{ends}{other}{held}{shared}"
            )
        case Ready():
            return "\n".join(
                (
                    f"Ready: {style.bold(milestone.link)}",
                    style.dim(f"  {link_note(milestone.link_expires_s)}"),
                    f"  folder   {strip_controls(milestone.folder)}",
                    f"  model    {strip_controls(milestone.model)}",
                    f"  kept in  {milestone.home}",
                    *((style.warn(untrusted_note(milestone.untrusted)),) if milestone.untrusted else ()),
                    *(style.warn(shared_folder_note(one)) for one in milestone.also_served_by),
                    *((style.warn(f"Callboard runs as root. {ROOT_RISK}"),) if is_root() else ()),
                    style.dim("Ctrl-C stops it; what happened is kept."),
                )
            )
        case Stopping():
            working = (
                f" {_sessions(milestone.working)} at work will be told as interrupted." if milestone.working else ""
            )
            return f"Stopping.{working}"
        case Stopped():
            return (
                f"Stopped. {_sessions(milestone.sessions)} kept in {milestone.store}; `callboard` goes on from there."
            )
        case Forced():
            return f"Ended at once. Whatever was acknowledged is kept in {milestone.store}."
        case _:
            assert_never(milestone)


def link_note(seconds: int) -> str:
    """Say how long an address opens the page."""
    return f"The address works once, for {seconds} seconds. Run callboard again for another."


def unused_models_note(models: Sequence[str], pid: int, asked: str) -> str:
    """What is said of models that are set here while another process serves with its own."""
    return (
        f"Not used: {strip_controls(', '.join(models))}, set in this terminal or in settings.toml since. "
        f"Process {pid} goes on asking {strip_controls(asked)}.\n"
        "To use it, stop that process and start again; or set CALLBOARD_HOME to another folder."
    )


def untrusted_note(count: int) -> str:
    """What is said where a folder's own files ask for what nobody let them."""
    things = "one thing" if count == 1 else f"{count} things"
    return (
        f"This folder's own files ask for {things} that you have not let them; that does not hold. "
        "`callboard trust` shows it and asks."
    )


def shared_folder_note(use: FolderUse) -> str:
    """Say that a process with another state folder serves the same project folder."""
    return (
        f"Process {use.pid} serves this folder too, with the state folder {strip_controls(use.home)}. "
        "The two know nothing of each other's sessions, approvals and queued work, "
        "and can change the same files. Stop one of them, or use one state folder."
    )


def _sessions(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"


def format_settings_problem(problem: SettingsProblem) -> str:
    """Return what is wrong with a file of settings, and which settings apply until it is fixed."""
    # What is wrong in a line of the file begins with where that is.
    message = problem.message if problem.message.startswith(problem.file) else f"{problem.file}: {problem.message}"
    applies = "The last valid settings apply." if problem.keeps_last else "Everything is asked about."
    return f"{message}{field_suffix(message, problem.field)} {applies}"
