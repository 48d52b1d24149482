"""What Claude Code and Codex say in their own ways, as they were recorded, played by an agent that speaks the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents
from callboard.contracts.ports.external import CallReported, ExternalCall
from tests.adapters.acp.test_agents import command, prompted


async def calls(place: Path, *steps: dict[str, Any]) -> list[ExternalCall]:
    session = await AcpAgents().start(command(place, [{"call": step} for step in steps]), str(place))
    events = await prompted(session)
    await session.close()
    return [event.call for event in events if isinstance(event, CallReported)]


async def test_what_codex_prints_on_a_terminal_of_its_own_is_the_output_of_its_call(tmp_path: Path):
    """codex-acp 2.6.0: the content names a terminal, and what it prints comes in `_meta`, piece by piece."""
    told = await calls(
        tmp_path,
        {
            "id": "c1",
            "title": "echo one; echo two",
            "kind": "execute",
            "status": "in_progress",
            "terminal": "c1",
            "input": {"command": "echo one; echo two", "cwd": "/w"},
            "meta": {"terminal_info": {"cwd": "/w", "terminal_id": "c1"}},
        },
        {"id": "c1", "meta": {"terminal_output_delta": {"data": "one\n", "terminal_id": "c1"}}},
        {
            "id": "c1",
            "status": "completed",
            "meta": {
                "terminal_output_delta": {"data": "two\n", "terminal_id": "c1"},
                "terminal_exit": {"exit_code": 0, "signal": None, "terminal_id": "c1"},
            },
        },
    )

    assert [(one.status, one.command, one.output) for one in told] == [
        ("in_progress", "echo one; echo two", ""),
        ("in_progress", "echo one; echo two", "one\n"),
        ("completed", "echo one; echo two", "one\ntwo\n"),
    ]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("/bin/bash -lc 'echo hello > made.txt'", "echo hello > made.txt"),
        (["bash", "-lc", "make all"], "make all"),
        ("make -c x", "make -c x"),
        ("bash -lc 'a' b", "bash -lc 'a' b"),
        ("echo 'open", "echo 'open"),
    ],
)
async def test_the_command_that_a_shell_is_given_is_the_command_that_rules_look_at(
    tmp_path: Path, given: str | list[str], meant: str
):
    """codex-acp 2.6.0 tells some of its commands with the shell around them."""
    (told,) = await calls(tmp_path, {"id": "c1", "title": "run", "kind": "execute", "input": {"command": given}})

    assert told.command == meant


async def test_a_call_of_claude_code_is_told_twice_before_it_is_asked_about(tmp_path: Path):
    """claude-agent-acp 0.100.0: first without arguments, then with them, and its output in a fence when it is over."""
    told = await calls(
        tmp_path,
        {"id": "t1", "title": "Terminal", "kind": "execute", "status": "pending", "input": {}},
        {"id": "t1", "title": "echo hi", "input": {"command": "echo hi", "description": "greet"}, "output": "greet"},
        {"id": "t1", "meta": {"claudeCode": {"toolName": "Bash", "toolResponse": {"stdout": "hi"}}}},
        {"id": "t1", "status": "completed", "output": "```console\nhi\n```"},
    )

    assert [(one.status, one.title, one.command, one.output) for one in told] == [
        ("pending", "Terminal", "", ""),
        ("pending", "echo hi", "echo hi", "greet"),
        ("pending", "echo hi", "echo hi", "greet"),
        ("completed", "echo hi", "echo hi", "```console\nhi\n```"),
    ]
