"""Dialects of Claude Code and Codex: recorded updates, sent by a scripted agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents
from callboard.contracts.ports.external import CallReported, ExternalCall
from tests.adapters.acp.test_agents import command, prompt_events


async def calls(folder: Path, *steps: dict[str, Any]) -> list[ExternalCall]:
    session = await AcpAgents().start(command(folder, [{"call": step} for step in steps]), str(folder))
    events = await prompt_events(session)
    await session.close()
    return [event.call for event in events if isinstance(event, CallReported)]


async def test_output_of_codexs_own_terminal_is_the_output_of_the_call(tmp_path: Path):
    """codex-acp 2.6.0: the content names a terminal, and `_meta` carries its output in pieces."""
    updates = await calls(
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

    assert [(call.status, call.command, call.output) for call in updates] == [
        ("in_progress", "echo one; echo two", ""),
        ("in_progress", "echo one; echo two", "one\n"),
        ("completed", "echo one; echo two", "one\ntwo\n"),
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("/bin/bash -lc 'echo hello > made.txt'", "echo hello > made.txt"),
        (["bash", "-lc", "make all"], "make all"),
        ("make -c x", "make -c x"),
        ("bash -lc 'a' b", "bash -lc 'a' b"),
        ("echo 'open", "echo 'open"),
    ],
)
async def test_rules_see_the_command_inside_a_shell_call(tmp_path: Path, command: str | list[str], expected: str):
    """codex-acp 2.6.0 reports some commands as calls of a shell."""
    (call,) = await calls(tmp_path, {"id": "c1", "title": "run", "kind": "execute", "input": {"command": command}})

    assert call.command == expected


async def test_a_call_of_claude_code_gets_its_arguments_with_the_second_update(tmp_path: Path):
    """claude-agent-acp 0.100.0: first without arguments, then with them, and at the end its output in a code fence."""
    updates = await calls(
        tmp_path,
        {"id": "t1", "title": "Terminal", "kind": "execute", "status": "pending", "input": {}},
        {"id": "t1", "title": "echo hi", "input": {"command": "echo hi", "description": "greet"}, "output": "greet"},
        {"id": "t1", "meta": {"claudeCode": {"toolName": "Bash", "toolResponse": {"stdout": "hi"}}}},
        {"id": "t1", "status": "completed", "output": "```console\nhi\n```"},
    )

    assert [(call.status, call.title, call.command, call.output) for call in updates] == [
        ("pending", "Terminal", "", ""),
        ("pending", "echo hi", "echo hi", "greet"),
        ("pending", "echo hi", "echo hi", "greet"),
        ("completed", "echo hi", "echo hi", "```console\nhi\n```"),
    ]
