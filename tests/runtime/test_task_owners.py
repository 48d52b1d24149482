"""Owners of started tasks: who awaits or cancels each, and where its error goes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "callboard"
#: Every module that starts tasks outside a task group: how many, and their owners.
OWNED = {
    "adapters/acp/agents.py": (
        5,
        "`prompt` and `gone`: each cancels and awaits its tasks; a failed prompt is raised",
    ),
    "adapters/acp/lines.py": (
        1,
        "LineTransport: `close` waits for the rest of the output, which ends with the process",
    ),
    "adapters/acp/process.py": (2, "AgentProcess: `end` cancels and awaits it"),
    "adapters/http/requests.py": (3, "`cancel_on_disconnect`: cancelled and awaited before it returns"),
    "adapters/http/server.py": (3, "HttpServer: `stop` awaits it; a failed start ends it"),
    "adapters/http/streams.py": (
        5,
        "one answer: cancelled and awaited when it ends, which raises the failure of its source",
    ),
    "app/cli/terminal/approvals.py": (
        3,
        "one question: cancelled and awaited when it is answered or settled by another client",
    ),
    "app/cli/demo.py": (3, "`_follow`: cancelled and awaited before it returns"),
    "app/cli/evidence.py": (1, "`_submit`: raises its failure; cancelled with its command"),
    "app/demos/printshop.py": (1, "a separate program, which ends with it"),
    "app/doctor/__init__.py": (1, "the command: it waits for all, and ends with the process"),
    "app/models/discovery.py": (2, "the command: it waits for all, and ends with the process"),
    "app/hosting/host.py": (2, "`host_runtime`: cancelled and awaited first when it ends"),
    "app/hosting/serve.py": (2, "`serve_folder`: cancelled and awaited when the process is asked to stop"),
    "runtime/turns/effect_runner.py": (
        1,
        "the work of one run: cancelled and awaited by its stop; BackgroundTasks logs its failure",
    ),
    "runtime/events/order.py": (
        1,
        "EventOrder: cancelled with its last follower; its failure is raised to each follower",
    ),
    "runtime/external/prompt_tasks.py": (
        2,
        "PromptTasks: dropped and awaited with their prompt, which raises or logs their failure",
    ),
    "runtime/external/plans.py": (1, "waits for tasks of PromptTasks"),
    "runtime/external/prompt.py": (2, "PromptRunner: the next event, cancelled and awaited with the prompt"),
    "runtime/sessions/partial_buffer.py": (
        1,
        "PartialBuffer: `settle` awaits it, which raises its failure to the effect",
    ),
    "runtime/processes.py": (2, "Processes: `close` waits for each; a process that cannot be ended is logged"),
    "runtime/session_registry.py": (
        2,
        "`close` waits for all and logs failures; `wait_shown` awaits its waits, and views log why they stopped",
    ),
    "runtime/background_tasks.py": (
        1,
        "BackgroundTasks: settled or ended by its owner; a failure that no caller receives is logged",
    ),
    "runtime/sessions/gate_decisions.py": (
        1,
        "waits for all, also if it is cancelled, and raises the first failure",
    ),
    "runtime/views/session.py": (
        2,
        "SessionViews: `close` cancels and awaits it; its failure is raised to all readers",
    ),
    "runtime/worktrees/worktree.py": (1, "`wait_shielded` waits for it, also if the caller is cancelled"),
    "tools/hooks/hook_process.py": (1, "one hook: `end` waits for all of it"),
    "tools/mcp/connection.py": (
        7,
        "Link: `close` ends its connection, which ends its tasks before it returns",
    ),
    "tools/mcp/stdio_transport.py": (5, "the streams of one program: cancelled and awaited when they are closed"),
    "tools/mcp/servers.py": (
        4,
        "ToolServers: `close` awaits connecting and closing; a failure to connect is the server's problem",
    ),
    "tools/shielded_wait.py": (1, "`wait_shielded` waits for it, also if the caller is cancelled"),
    "tools/sandbox/background_command.py": (2, "`ended` and `stop` wait for it and raise its failure"),
    "tools/sandbox/guarded_command.py": (2, "`end` waits for them"),
}
_STARTS = {"create_task", "ensure_future", "gather"}
#: Modules that call another function of the same name.
_OTHERS = {
    "log/pieces.py",
    "log/memory.py",
    "log/sqlite/partials.py",
    "control/decide/task/commands.py",
    "control/decide/team/calls.py",
}


def count_starts(tree: ast.AST) -> int:
    """Return how often a module starts tasks outside task groups."""
    groups = {
        item.optional_vars.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncWith)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and "TaskGroup" in ast.unparse(item.context_expr)
    }
    start_count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _STARTS:
            above = ast.unparse(node.value)
            start_count += above not in groups and not (node.attr == "gather" and above != "asyncio")
        elif isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            start_count += sum(name.name in _STARTS for name in node.names)
    return start_count


def test_every_module_that_starts_tasks_names_their_owner():
    """Add the module to OWNED: who awaits or cancels the task, and where its error goes. A task of
    `BackgroundTasks` needs no entry."""
    trees = {str(path.relative_to(SOURCE)): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}

    start_counts = {
        path: count for path, tree in trees.items() if path not in _OTHERS and (count := count_starts(tree))
    }

    assert start_counts == {path: count for path, (count, _) in OWNED.items()}


@pytest.mark.parametrize(
    "text",
    [
        "import asyncio\nasyncio.create_task(x())",
        "from asyncio import create_task",
        "loop.create_task(x())",
        "import asyncio as a\na.ensure_future(x())",
        "async def f():\n async with asyncio.TaskGroup() as group:\n  group.create_task(x())\n  loop.create_task(x())",
    ],
)
def test_a_new_task_start_is_detected(text: str):
    assert count_starts(ast.parse(text)) == 1


def test_a_task_of_a_group_needs_no_owner():
    text = "async def f():\n async with asyncio.TaskGroup() as group:\n  group.create_task(x())"

    assert count_starts(ast.parse(text)) == 0
