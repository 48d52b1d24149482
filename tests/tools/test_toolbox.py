"""Execution of approved calls: the same arguments, file and sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from callboard.contracts.ports.tools import ToolOutcome
from tests.tools.rigs.calls import Agent, call, read_tree

CHANGED = "{} changed after approval. The call did not run. Look again, and make a new call."


def changed(subject: str) -> ToolOutcome:
    return ToolOutcome(output="", code="file_changed", message=CHANGED.format(subject))


@pytest.mark.parametrize("content", [b"theirs\n", b"", None])
async def test_a_file_changed_after_approval_is_not_written(agent: Agent, content: bytes | None):
    """SAFE-07"""
    wanted = call("Write", file_path="README.md", content="ours\n")
    evaluation = await agent.with_context(permission_mode="ask").evaluate(
        "Write", file_path="README.md", content="ours\n"
    )
    file = agent.folder / "README.md"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    before = read_tree(agent.folder)

    assert await agent.run(wanted, evaluation) == changed("The file")
    assert read_tree(agent.folder) == before


async def test_a_file_created_after_approval_is_not_overwritten(agent: Agent):
    """SAFE-07"""
    wanted = call("Write", file_path="new.txt", content="ours\n")
    evaluation = await agent.evaluate("Write", file_path="new.txt", content="ours\n")
    (agent.folder / "new.txt").write_text("theirs\n")

    assert await agent.run(wanted, evaluation) == changed("The file")
    assert (agent.folder / "new.txt").read_text() == "theirs\n"


@pytest.mark.parametrize(
    ("tool", "approved", "edited"),
    [
        ("Bash", {"command": "echo a"}, {"command": "touch made"}),
        ("Write", {"file_path": "a.txt", "content": "a"}, {"file_path": "a.txt", "content": "b"}),
        ("Write", {"file_path": "a.txt", "content": "a"}, {"file_path": "b.txt", "content": "a"}),
        ("Read", {"file_path": "README.md"}, {"file_path": "src/app.py"}),
    ],
)
async def test_changed_arguments_do_not_run(agent: Agent, tool: str, approved: dict[str, str], edited: dict[str, str]):
    """SAFE-07"""
    evaluation = await agent.with_context(permission_mode="ask").evaluate(tool, **approved)
    before = read_tree(agent.folder)

    assert await agent.run(call(tool, **edited), evaluation) == changed("The arguments")
    assert read_tree(agent.folder) == before


async def test_an_approval_covers_one_tool_folder_and_definition(agent: Agent, tmp_path: Path):
    """SAFE-07"""
    wanted = call("Write", file_path="a.txt", content="a")
    evaluation = await agent.evaluate("Write", file_path="a.txt", content="a")
    (tmp_path / "other").mkdir()
    other_folder = agent.with_context(folder=str(tmp_path / "other"))
    other_definition = agent.with_context(definition_hash="e" * 64)

    assert await other_folder.run(wanted, evaluation) == changed("The tool or the folder")
    assert await other_definition.run(wanted, evaluation) == changed("The agent's definition")
    assert not (tmp_path / "other" / "a.txt").exists()
    assert not (agent.folder / "a.txt").exists()


async def test_a_denied_call_does_not_run(agent: Agent):
    """CTL-05"""
    wanted = call("Bash", command="touch made")
    evaluation = await agent.with_context(tools=("Read",)).evaluate("Bash", command="touch made")

    outcome = await agent.run(wanted, evaluation)

    assert outcome == ToolOutcome(output="", code="tool_not_listed", message=evaluation.message)
    assert not (agent.folder / "made").exists()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "src/app.py"}),
        ("Write", {"file_path": "src/new.py", "content": "x"}),
        ("Write", {"file_path": "src/app.py", "content": "x"}),
        ("Edit", {"file_path": "src/app.py", "old_string": "one", "new_string": "1"}),
        ("Grep", {"pattern": ".", "path": "src"}),
        ("Glob", {"pattern": "*", "path": "src"}),
    ],
)
@pytest.mark.parametrize(
    "swap",
    [
        lambda folder: (folder / "src").symlink_to("../outside"),
        lambda folder: (folder / "src").symlink_to("moved"),
        lambda folder: (folder / "src").symlink_to("/etc"),
    ],
    ids=["outside", "inside", "absolute"],
)
async def test_a_folder_replaced_by_a_link_after_approval_is_not_followed(
    agent: Agent, swap: Callable[[Path], None], tool: str, arguments: dict[str, str]
):
    """SAFE-01"""
    evaluation = await agent.evaluate(tool, **arguments)
    assert evaluation.verdict == "allow"
    (agent.folder / "src").rename(agent.folder / "moved")
    swap(agent.folder)
    before = read_tree(agent.folder.parent)

    outcome = await agent.run(call(tool, **arguments), evaluation)

    assert outcome == ToolOutcome(
        output="", code="path_denied", message="src is a symbolic link, which no tool follows."
    )
    assert read_tree(agent.folder.parent) == before


async def test_a_file_replaced_by_a_link_after_approval_is_not_written(agent: Agent):
    """SAFE-01"""
    wanted = call("Write", file_path="README.md", content="x")
    evaluation = await agent.evaluate("Write", file_path="README.md", content="x")
    (agent.folder / "README.md").unlink()
    (agent.folder / "README.md").symlink_to("../outside/secret.txt")

    outcome = await agent.run(wanted, evaluation)

    assert outcome.code == "path_denied"
    assert (agent.folder.parent / "outside" / "secret.txt").read_text() == "the secret\n"


async def test_a_command_without_a_sandbox_decision_does_not_run(agent: Agent):
    """SAFE-02"""
    evaluation = await agent.evaluate("Bash", command="touch made")

    outcome = await agent.run(call("Bash", command="touch made"), msgspec.structs.replace(evaluation, sandbox=None))

    assert outcome.code == "tool_failed"
    assert not (agent.folder / "made").exists()


async def test_a_cancelled_change_is_reported_or_not_made(agent: Agent):
    """MAR-10: the file and the report agree, whenever the call is cancelled."""
    wanted = call("Write", file_path="README.md", content="ours\n")
    evaluation = await agent.evaluate("Write", file_path="README.md", content="ours\n")
    for turns in range(6):
        task = asyncio.create_task(agent.run(wanted, evaluation))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        try:
            is_reported = (await task).changes != ()
        except asyncio.CancelledError:
            is_reported = False
        is_written = (agent.folder / "README.md").read_text() == "ours\n"
        assert is_written == is_reported
        assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "src"]
        (agent.folder / "README.md").write_text("# Tide\n\nReads gauges.\n")
