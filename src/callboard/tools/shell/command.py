"""Shell commands in the sandbox that the gate decided."""

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
_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")


async def run(
    arguments: BashArguments,
    folder: str,
    sandbox: SandboxApplied,
    environment: GateEnvironment,
    output: Callable[[str], None],
) -> ToolOutcome:
    """Run the command in exactly this sandbox. Raises Refusal `tool_failed` if the sandbox is unavailable."""
    seconds = compute_timeout(arguments, sandbox)
    with ExitStack() as resources:
        (launch, watch), cancelled = await wait_shielded(
            asyncio.to_thread(_prepare, arguments, folder, sandbox, environment, resources)
        )
        if cancelled:
            raise asyncio.CancelledError
        try:
            result = await guarded_command.run(launch, seconds=seconds, output=output)
        finally:
            try:
                renamed, cancelled = await wait_shielded(asyncio.to_thread(_rename_new, watch))
            except RuntimeError:
                # No thread is available. New protected paths must not stay, so block here.
                renamed, cancelled = _rename_new(watch), False
        if cancelled:
            raise asyncio.CancelledError
    return _add_renamed(renamed, _to_timed_outcome(result, seconds, sandbox))


def _to_timed_outcome(result: guarded_command.CommandResult, seconds: float, sandbox: SandboxApplied) -> ToolOutcome:
    if result.stopped:
        limit = limits.get_limit(sandbox, "timeout")
        advice = (
            "Do less in one command, set background, or ask a person to raise shell.timeout in the settings."
            if seconds == limit
            else "Set a longer timeout, or do less in one command."
        )
        message = f"The command was ended after {seconds:g} s. {advice}"
        return ToolOutcome(output=result.output, code="tool_timeout", message=message)
    return _to_outcome(result, sandbox)


async def start(
    arguments: BashArguments,
    folder: str,
    sandbox: SandboxApplied,
    environment: GateEnvironment,
    redactor: StreamRedaction | None = None,
) -> background_command.BackgroundCommand:
    """Start the command in the background in exactly this sandbox. Raises Refusal `tool_failed`."""
    resources = ExitStack()
    try:
        (launch, watch), cancelled = await wait_shielded(
            asyncio.to_thread(_prepare, arguments, folder, sandbox, environment, resources)
        )
        if cancelled:
            raise asyncio.CancelledError
    except BaseException:
        resources.close()
        raise

    def to_outcome(result: guarded_command.CommandResult) -> ToolOutcome:
        return _add_renamed(_rename_new(watch), _to_outcome(result, sandbox))

    process, cancelled = await background_command.start(launch, resources, to_outcome, redactor)
    if cancelled:
        await process.stop()
        raise asyncio.CancelledError
    return process


def compute_timeout(arguments: BashArguments, sandbox: SandboxApplied) -> float:
    """Return the requested timeout, limited by the settings, in seconds."""
    requested = arguments.timeout / 1000
    return min(requested, limits.get_limit(sandbox, "timeout") or requested)


def _to_outcome(result: guarded_command.CommandResult, sandbox: SandboxApplied) -> ToolOutcome:
    if result.error:
        return ToolOutcome(output="", code="tool_failed", message=f"The command did not run: {result.error}")
    if result.stopped:
        return ToolOutcome(output=result.output)
    limit = result.limit or ("file_size" if result.exit_code == limits.FILE_TOO_LARGE else "")
    if limit:
        message = limits.describe_exceeded(sandbox, limit)
        return ToolOutcome(output=result.output, code="resource_limit", message=message, exit_code=result.exit_code)
    if result.exit_code:
        message = f"The command ended with exit code {result.exit_code}."
        return ToolOutcome(output=result.output, code="tool_failed", message=message, exit_code=result.exit_code)
    return ToolOutcome(output=result.output, exit_code=0)


def _rename_new(watch: Watch | None) -> tuple[RenamedPath, ...]:
    return watch.rename_new() if watch is not None else ()


def _add_renamed(renamed: tuple[RenamedPath, ...], outcome: ToolOutcome) -> ToolOutcome:
    """Add the new protected paths of a command to its outcome."""
    if not renamed:
        return outcome
    done = ", ".join(f"{display(path.path)} -> {display(path.name)}" for path in renamed if path.name)
    failed = ", ".join(display(path.path) for path in renamed if not path.name)
    parts = (
        f"The command created files that control other programs. They were renamed: {done}." if done else "",
        f"These could not be renamed. Check them before use: {failed}." if failed else "",
        "Create such files with `write`, which asks for approval.",
        outcome.message,
    )
    message = " ".join(part for part in parts if part)
    return msgspec.structs.replace(outcome, code="path_denied", message=message)


def _prepare(
    arguments: BashArguments, folder: str, sandbox: SandboxApplied, environment: GateEnvironment, resources: ExitStack
) -> tuple[Launch, Watch | None]:
    """Return the start of the command, and its watch. `resources` must stay open until it has ended."""
    shell = [shutil.which("bash", path=bubblewrap.PATH) or "/bin/sh", "-c", arguments.command]
    bounds = limits.to_bounds(sandbox)
    if sandbox.level == "none":

        def plain(_: int) -> list[str]:
            return shell

        return Launch(plain, folder, _build_environment(folder), bounds), None
    ability = environment.ability
    if not ability.works or ability.seccomp != sandbox.seccomp:
        raise Refusal(
            "tool_failed",
            f"The approved sandbox is no longer available ({ability.problem}). The command did not run.",
            hint="Call the tool again for a new approval.",
        )
    root = resources.enter_context(Folder(folder, environment.hidden))
    descriptors: list[int] = []
    if sandbox.seccomp:
        descriptors.append(seccomp.open_filter(network=sandbox.network))
        resources.callback(os.close, descriptors[0])
    protected = resources.enter_context(protected_paths.protect(root)) if sandbox.writable else []
    programs = list_programs_in(folder, environment.programs, str(Path.home()), os.environ.get("PATH", ""))
    watched = (path for path in environment.hidden if path.rpartition("/")[2] not in REMEMBERED)
    watch = Watch(folder, PrivatePaths(folder, (*watched, *programs))) if sandbox.writable else None
    hidden_paths = list(dict.fromkeys(os.path.realpath(path) for path in environment.hidden))
    view = bubblewrap.SandboxView(
        folder=folder,
        writable=bool(sandbox.writable),
        network=sandbox.network,
        programs=present(environment.programs),
        protected=protected,
        protected_if_present=(
            *(watch.protected if watch is not None else ()),
            *(path for path in present(programs) if os.path.realpath(path) == path),
        ),
        hidden=inside(folder, environment.hidden),
        masked=[path for path in hidden_paths if path.startswith(f"{folder.rstrip('/')}/") and Path(path).is_file()],
        scratch=int(limits.get_limit(sandbox, "scratch")),
    )

    def command(report: int) -> list[str]:
        return [
            ability.program,
            *bubblewrap.build_namespace_options(network=sandbox.network, userns_off=ability.userns_off),
            *bubblewrap.build_environment_options(view, os.environ.get("PATH", "")),
            *bubblewrap.build_mount_options(view),
            *(("--seccomp", str(descriptors[0])) if descriptors else ()),
            *("--json-status-fd", str(report), "--"),
            *shell,
        ]

    variables = {"PATH": bubblewrap.PATH}
    return Launch(command, folder, variables, bounds, descriptors, reports=True), watch


def _build_environment(folder: str) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {"PATH": bubblewrap.PATH, **inherited, "PWD": folder, "TERM": "dumb", "NO_COLOR": "1"}


def present(folders: Sequence[str]) -> list[str]:
    """Return the folders that exist."""
    return [folder for folder in folders if Path(folder).is_dir()]


def inside(folder: str, hidden: Sequence[str]) -> list[str]:
    """Return the hidden folders that are in the folder."""
    return [
        path for path in present(list(dict.fromkeys(map(os.path.realpath, hidden)))) if path.startswith(folder + "/")
    ]
