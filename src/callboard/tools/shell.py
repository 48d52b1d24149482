"""A command run as the gate said that it would be, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.sandbox import SandboxApplied
from callboard.contracts.ports.tools import ToolOutcome

from .bash import BashArguments
from .case import Ground
from .handles import Folder
from .sandbox import bubblewrap, keeping, running, seccomp

#: Of our environment, what a command without a sandbox gets: where programs are and who the person is, no more.
_PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")


async def run(
    asked: BashArguments, folder: str, applied: SandboxApplied, ground: Ground, output: Callable[[str], None]
) -> ToolOutcome:
    """Runs the command under exactly the confinement `applied`. Raises Refusal `tool_failed` where that cannot be had."""
    shell = [shutil.which("bash", path=bubblewrap.PATH) or "/bin/sh", "-c", asked.command]
    seconds = asked.timeout / 1000
    if applied.level == "none":
        ran = await running.run(lambda _: shell, folder, _environment(folder), seconds=seconds, output=output)
    else:
        ran = await _held(shell, folder, applied, ground, seconds, output)
    if ran.error:
        return ToolOutcome(output="", code="tool_failed", message=f"The command was not run: {ran.error}")
    if ran.timed_out:
        message = f"The command was ended after {seconds:g} s. Give it a longer timeout, or less to do."
        return ToolOutcome(output=ran.output, code="tool_timeout", message=message)
    if ran.exit_code:
        message = f"The command ended with exit code {ran.exit_code}."
        return ToolOutcome(output=ran.output, code="tool_failed", message=message, exit_code=ran.exit_code)
    return ToolOutcome(output=ran.output, exit_code=0)


async def _held(
    shell: list[str],
    folder: str,
    applied: SandboxApplied,
    ground: Ground,
    seconds: float,
    output: Callable[[str], None],
) -> running.Ran:
    ability = ground.ability
    if not ability.works or ability.seccomp != applied.seccomp:
        raise Refusal("tool_failed", f"The sandbox that was promised cannot be had ({ability.why}). Nothing was run.")
    with ExitStack() as held:
        opened = held.enter_context(Folder(folder, ground.hidden))
        kept = held.enter_context(keeping.kept(opened)) if applied.writable else []
        handed: list[int] = []
        if applied.seccomp:
            handed.append(seccomp.handed_over())
            held.callback(os.close, handed[0])
        view = bubblewrap.View(
            folder=folder,
            writable=bool(applied.writable),
            network=applied.network,
            programs=_present(ground.programs),
            kept=kept,
            hidden=_inside(folder, ground.hidden),
        )

        def command(report: int) -> list[str]:
            return [
                ability.program,
                *bubblewrap.namespaces(network=applied.network, userns_off=ability.userns_off),
                *bubblewrap.environment(view, os.environ.get("PATH", "")),
                *bubblewrap.mounts(view),
                *(("--seccomp", str(handed[0])) if handed else ()),
                *("--json-status-fd", str(report), "--"),
                *shell,
            ]

        environment = {"PATH": bubblewrap.PATH}
        return await running.run(
            command, folder, environment, seconds=seconds, output=output, handed=handed, reports=True
        )


def _environment(folder: str) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {"PATH": bubblewrap.PATH, **passed, "PWD": folder, "TERM": "dumb", "NO_COLOR": "1"}


def _present(folders: Sequence[str]) -> list[str]:
    return [one for one in folders if Path(one).is_dir()]


def _inside(folder: str, hidden: Sequence[str]) -> list[str]:
    """Those of the hidden folders that the command would see."""
    return [one for one in _present([os.path.realpath(one) for one in hidden]) if one.startswith(folder + "/")]
