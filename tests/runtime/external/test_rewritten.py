"""An external program that an agent changed needs another approval before it starts again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.contracts.facts.action import ActionRequired
from tests.runtime.rigs.acp_agent import AGENT, answer, list_facts, open_coder


def _rewrite(folder: Path, name: str) -> None:
    (folder / name).write_text((folder / name).read_text() + "# harm\n")


def _lead_elsewhere(folder: Path) -> None:
    (folder / "other").write_text((folder / "tool").read_text())
    (folder / "other").chmod(0o755)
    (folder / "link").unlink()
    (folder / "link").symlink_to("other")


WAYS: dict[str, tuple[list[str], Callable[[Path], None]]] = {
    "program": (["./tool"], lambda folder: _rewrite(folder, "tool")),
    "script": (["sh", "tool"], lambda folder: _rewrite(folder, "tool")),
    "link": (["./link"], _lead_elsewhere),
    "link to a program": (["./link"], lambda folder: _rewrite(folder, "tool")),
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_rewritten_program_needs_approval_despite_a_rule(tmp_path: Path, way: str):
    """X2: an approval for the workspace covers the same program only."""
    command, change = WAYS[way]
    async with open_coder(tmp_path, [{"say": "hi"}]) as rig:
        folder = tmp_path / "work"
        (folder / "tool").write_text(f"#!/bin/sh\nexec {sys.executable} {AGENT} {tmp_path / 'script.json'}\n")
        (folder / "tool").chmod(0o755)
        (folder / "link").symlink_to("tool")
        definition = folder / "agents" / "coder.md"
        lines = definition.read_text().splitlines(keepends=True)
        own = f"command: {json.dumps(command)}\n"
        definition.write_text("".join(own if line.startswith("command:") else line for line in lines))
        first = (await rig.submit("Do it.")).session_id
        await answer(rig, first, scope="workspace")
        await rig.until(first, "turn.completed")
        same = (await rig.submit("Do it.")).session_id
        await rig.until(same, "turn.completed")
        unasked = await list_facts(rig, same, ActionRequired)

        change(folder)
        changed = (await rig.submit("Do it.")).session_id
        action = await answer(rig, changed, "reject")
        await rig.until(changed, "turn.failed")

    assert unasked == []
    assert "changed since you approved it" in action.prompt.casefold()
