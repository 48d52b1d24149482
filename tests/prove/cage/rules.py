"""A deny rule, against spellings of its command that a real bash runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.prove.cage.folder import World
from tests.prove.driver.product import Server
from tests.prove.driver.report import Report
from tests.prove.driver.session_driver import do
from tests.tools.gate.test_command_spellings import ALIKE, NEITHER, RUN

HELD = "no spelling that runs a denied command is allowed"
REAL = "each spelling runs the command in a real bash"
ALONE = "a rule that denies leaves other commands alone"


async def prove(report: Report, world: World, server: Server) -> None:
    """X8: the person's settings deny `git push *`; ask the gate over HTTP."""
    program = world.outside / "bin" / "git"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor word; do [ "$word" = push ] && echo push >> "$RAN"; done\nexit 0\n')
    program.chmod(0o755)
    place = world.outside / "pushing"
    place.mkdir()
    verdicts = {"deny": 0, "ask": 0}
    for number, command in enumerate(RUN):
        ran = _runs(command, place, program.parent, world.outside / f"pushed-{number}")
        report.check(REAL, ran, command)
    for command in (*RUN, *ALIKE):
        verdict = await _verdict(server, command)
        report.check(HELD, verdict in verdicts, f"{command}: {verdict}")
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    wrong = [command for command in NEITHER if await _verdict(server, command) != "allow"]
    report.none(ALONE, wrong)
    counts = f"{len(RUN)} run in bash; {verdicts['deny']} of {len(RUN) + len(ALIKE)} denied, {verdicts['ask']} asked"
    report.figure("spellings of git push", counts)


async def _verdict(server: Server, command: str) -> str:
    """Return the verdict of the rules. The folder asks about every command anyway."""
    arguments = json.dumps({"command": command, "description": "pushes"})
    query = {"tool": "Bash", "arguments": arguments, "agent": "lead", "permissionMode": "full"}
    answer = await do(server, "evaluate_permission", workspaceId=server.workspace, **query)
    return next((str(check["verdict"]) for check in answer["checks"] if check["name"] == "rules"), "none")


def _runs(command: str, place: Path, programs: Path, ran: Path) -> bool:
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "RAN": str(ran), "HOME": str(place)}
    subprocess.run(["bash", "-c", command], env=environment, cwd=place, capture_output=True, timeout=60, check=False)
    return ran.exists()
