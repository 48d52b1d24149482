"""Commands, run exactly as the gate allowed them or not at all."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import ToolOutcome

from ..builtin.bash import BashArguments
from ..files.handles import Folder
from ..files.paths import display
from ..gate.call_context import GateEnvironment
from ..protection import protected_paths
from ..protection.credentials import REMEMBERED
from ..protection.private_paths import PrivatePaths, list_programs_in
from ..protection.watch import RenamedPath, Watch
from ..sandbox import background_command, bubblewrap, guarded_command, limits, seccomp
from ..sandbox.launch import Launch
from ..shielded_wait import wait_shielded

#: Variables that a command without a sandbox inherits.
_PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")


async def run(
    asked: BashArguments, folder: str, applied: SandboxApplied, ground: GateEnvironment, output: Callable[[str], None]
) -> ToolOutcome:
    """Run the command under exactly this confinement. Raises Refusal `tool_failed` if it is unavailable."""
    seconds = seconds_for(asked, applied)
    with ExitStack() as held:
        (launch, watch), cancelled = await wait_shielded(
            asyncio.to_thread(_launch, asked, folder, applied, ground, held)
        )
        if cancelled:
            raise asyncio.CancelledError
        try:
            ran = await guarded_command.run(launch, seconds=seconds, output=output)
        finally:
            try:
                aside, cancelled = await wait_shielded(asyncio.to_thread(_set_aside, watch))
            except RuntimeError:
                # Without a thread, do it here: what the command created must not stay.
                aside, cancelled = _set_aside(watch), False
        if cancelled:
            raise asyncio.CancelledError
    return _with(aside, _told(ran, seconds, applied))


def _told(ran: guarded_command.CommandResult, seconds: float, applied: SandboxApplied) -> ToolOutcome:
    if ran.stopped:
        setting = limits.get_limit(applied, "timeout")
        more = (
            "Have the person raise shell.timeout in the settings, give it less to do, or run it in the background."
            if seconds == setting
            else "Give it a longer timeout, or less to do."
        )
        message = f"The command was ended after {seconds:g} s. {more}"
        return ToolOutcome(output=ran.output, code="tool_timeout", message=message)
    return _outcome(ran, applied)


async def start(
    asked: BashArguments,
    folder: str,
    applied: SandboxApplied,
    ground: GateEnvironment,
    veil: StreamRedaction | None = None,
) -> background_command.BackgroundCommand:
    """Start the command in the background under exactly this confinement. Raises Refusal
    `tool_failed` if it is unavailable.
    """
    held = ExitStack()
    try:
        (launch, watch), cancelled = await wait_shielded(
            asyncio.to_thread(_launch, asked, folder, applied, ground, held)
        )
        if cancelled:
            raise asyncio.CancelledError
    except BaseException:
        held.close()
        raise

    def ended(ran: guarded_command.CommandResult) -> ToolOutcome:
        return _with(_set_aside(watch), _outcome(ran, applied))

    process, cancelled = await background_command.start(launch, held, ended, veil)
    if cancelled:
        await process.stop()
        raise asyncio.CancelledError
    return process


def seconds_for(asked: BashArguments, applied: SandboxApplied) -> float:
    """Return the timeout in seconds: the requested one, limited by the settings."""
    wanted = asked.timeout / 1000
    return min(wanted, limits.get_limit(applied, "timeout") or wanted)


def _outcome(ran: guarded_command.CommandResult, applied: SandboxApplied) -> ToolOutcome:
    if ran.error:
        return ToolOutcome(output="", code="tool_failed", message=f"The command was not run: {ran.error}")
    if ran.stopped:
        return ToolOutcome(output=ran.output)
    limit = ran.limit or ("file_size" if ran.exit_code == limits.FILE_TOO_LARGE else "")
    if limit:
        message = limits.describe_exceeded(applied, limit)
        return ToolOutcome(output=ran.output, code="resource_limit", message=message, exit_code=ran.exit_code)
    if ran.exit_code:
        message = f"The command ended with exit code {ran.exit_code}."
        return ToolOutcome(output=ran.output, code="tool_failed", message=message, exit_code=ran.exit_code)
    return ToolOutcome(output=ran.output, exit_code=0)


def _set_aside(watch: Watch | None) -> tuple[RenamedPath, ...]:
    return watch.rename_new() if watch is not None else ()


def _with(aside: tuple[RenamedPath, ...], outcome: ToolOutcome) -> ToolOutcome:
    """Return the outcome of a command that created files which other programs obey."""
    if not aside:
        return outcome
    done = ", ".join(f"{display(one.path)} -> {display(one.name)}" for one in aside if one.name)
    left = ", ".join(display(one.path) for one in aside if not one.name)
    parts = (
        f"The command made files that other programs obey. They were renamed: {done}." if done else "",
        f"These could not be renamed, so check them before you use them: {left}." if left else "",
        "Use `write`, which asks the person first.",
        outcome.message,
    )
    message = " ".join(part for part in parts if part)
    return msgspec.structs.replace(outcome, code="path_denied", message=message)


def _launch(
    asked: BashArguments, folder: str, applied: SandboxApplied, ground: GateEnvironment, held: ExitStack
) -> tuple[Launch, Watch | None]:
    """Return how the command starts, and its watch. `held` receives what must stay open until it
    has ended.
    """
    shell = [shutil.which("bash", path=bubblewrap.PATH) or "/bin/sh", "-c", asked.command]
    bounds = limits.to_bounds(applied)
    if applied.level == "none":

        def plain(_: int) -> list[str]:
            return shell

        return Launch(plain, folder, _environment(folder), bounds), None
    ability = ground.ability
    if not ability.works or ability.seccomp != applied.seccomp:
        raise Refusal(
            "tool_failed", f"The sandbox that was promised cannot be had ({ability.problem}). Nothing was run."
        )
    opened = held.enter_context(Folder(folder, ground.hidden))
    handed: list[int] = []
    if applied.seccomp:
        handed.append(seccomp.open_filter(network=applied.network))
        held.callback(os.close, handed[0])
    kept = held.enter_context(protected_paths.protect(opened)) if applied.writable else []
    own = list_programs_in(folder, ground.programs, str(Path.home()), os.environ.get("PATH", ""))
    missing = (one for one in ground.hidden if one.rpartition("/")[2] not in REMEMBERED)
    watch = Watch(folder, PrivatePaths(folder, (*missing, *own))) if applied.writable else None
    real = list(dict.fromkeys(os.path.realpath(one) for one in ground.hidden))
    view = bubblewrap.SandboxView(
        folder=folder,
        writable=bool(applied.writable),
        network=applied.network,
        programs=present(ground.programs),
        protected=kept,
        protected_if_present=(
            *(watch.protected if watch is not None else ()),
            *(one for one in present(own) if os.path.realpath(one) == one),
        ),
        hidden=inside(folder, ground.hidden),
        masked=[one for one in real if one.startswith(f"{folder.rstrip('/')}/") and Path(one).is_file()],
        scratch=int(limits.get_limit(applied, "scratch")),
    )

    def command(report: int) -> list[str]:
        return [
            ability.program,
            *bubblewrap.namespace_options(network=applied.network, userns_off=ability.userns_off),
            *bubblewrap.environment_options(view, os.environ.get("PATH", "")),
            *bubblewrap.mount_options(view),
            *(("--seccomp", str(handed[0])) if handed else ()),
            *("--json-status-fd", str(report), "--"),
            *shell,
        ]

    environment = {"PATH": bubblewrap.PATH}
    return Launch(command, folder, environment, bounds, handed, reports=True), watch


def _environment(folder: str) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {"PATH": bubblewrap.PATH, **passed, "PWD": folder, "TERM": "dumb", "NO_COLOR": "1"}


def present(folders: Sequence[str]) -> list[str]:
    """Return the folders that exist."""
    return [one for one in folders if Path(one).is_dir()]


def inside(folder: str, hidden: Sequence[str]) -> list[str]:
    """Return the hidden folders that the command would see."""
    return [one for one in present(list(dict.fromkeys(map(os.path.realpath, hidden)))) if one.startswith(folder + "/")]
