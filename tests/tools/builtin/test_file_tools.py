"""Read, Write and Edit on real files."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from pathlib import Path

import pytest

from callboard.contracts.content import make_blob
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import ToolOutcome
from callboard.tools.files.changes import PlannedChange
from callboard.tools.files.handles import Folder
from callboard.tools.protection.atomic_write import ChangedMeanwhileError, StoppedError, compute_fingerprint, replace
from tests.tools.rigs.calls import Agent, call, read_tree


async def test_read_numbers_the_lines(agent: Agent):
    assert await agent.output("Read", file_path="src/app.py") == "     1\tprint('one')\n     2\tprint('two')"


async def test_read_notes_the_remaining_lines(agent: Agent):
    (agent.folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 5001)))

    part = await agent.output("Read", file_path="long.txt", offset=4, limit=2)
    head = await agent.output("Read", file_path="long.txt")

    assert part == "     4\tline 4\n     5\tline 5\n\n[lines 4 to 5 of 5000; continue with offset 6]"
    assert head.endswith("  2000\tline 2000\n\n[lines 1 to 2000 of 5000; continue with offset 2001]")


async def test_read_truncates_long_lines_and_long_files_with_a_note(agent: Agent):
    (agent.folder / "wide.txt").write_text("x" * 5000 + "\n")
    (agent.folder / "much.txt").write_text(("y" * 1000 + "\n") * 1000)

    wide = await agent.output("Read", file_path="wide.txt")
    much = await agent.output("Read", file_path="much.txt")

    assert wide == f"     1\t{'x' * 2000}… [3,000 more characters]\n\n[lines above 2000 characters are truncated]"
    assert len(much) < 64_000
    assert much.endswith("[lines 1 to 60 of 1000; continue with offset 61]")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"\x89PNG\r\n\x1a\n\x00\x00",
            "f is a PNG image, 10 bytes: `read` opens only text. Use `bash` with a program for this format.",
        ),
        (b"\x00\x01", "f is binary data, 2 bytes: `read` opens only text. Use `bash` with a program for this format."),
    ],
)
async def test_read_refuses_binary_files(agent: Agent, content: bytes, message: str):
    (agent.folder / "f").write_bytes(content)

    assert await agent.call("Read", file_path="f") == ToolOutcome(output="", code="tool_failed", message=message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"file_path": "none.txt"}, "There is no file none.txt. Find files with `glob` or `grep`."),
        ({"file_path": "src"}, "src is a folder."),
        ({"file_path": "README.md/x"}, "There is no file README.md/x. Find files with `glob` or `grep`."),
        ({"file_path": "README.md", "offset": 9}, "README.md has 3 lines. The offset is 9. Use an offset from 1 to 3."),
    ],
)
async def test_read_reports_why_a_file_cannot_be_read(agent: Agent, arguments: dict[str, object], message: str):
    assert await agent.call("Read", **arguments) == ToolOutcome(output="", code="tool_failed", message=message)


async def test_write_creates_missing_folders(agent: Agent):
    outcome = await agent.call("Write", file_path="notes/2026/a.md", content="# A\n")

    after = make_blob(b"# A\n", "text/plain; charset=utf-8")
    assert outcome.output == "Created notes/2026/a.md: +1 −0."
    assert outcome.changes == (
        FileChange(path="notes/2026/a.md", kind="created", added=1, diff=outcome.changes[0].diff, after=after.ref),
    )
    assert outcome.blobs == (after,)
    assert (agent.folder / "notes/2026/a.md").read_bytes() == b"# A\n"


async def test_a_replaced_file_keeps_its_mode_and_owner(agent: Agent):
    script = agent.folder / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o751)
    if os.geteuid() == 0:
        os.chown(script, 1234, 1235)
    before = script.stat()

    await agent.output("Write", file_path="run.sh", content="#!/bin/sh\necho hi\n")

    after = script.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "run.sh", "src"]


async def test_a_hard_link_keeps_the_old_content(agent: Agent):
    """SAFE-01: a write replaces the file and does not change its content in place."""
    outside = agent.folder.parent / "outside" / "secret.txt"
    os.link(outside, agent.folder / "same.txt")

    await agent.output("Write", file_path="same.txt", content="mine\n")

    assert outside.read_text() == "the secret\n"
    assert (agent.folder / "same.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"a\nb\r\n", "c\nd\n", b"c\nd\n"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        (b"caf\xe9\n", "caf\xe9s\n", b"caf\xe9s\n"),
        (b"caf\xe9\n", "潮\n", "潮\n".encode()),
        (b"\x00\x01", "text\n", b"text\n"),
        (b"", "x", b"x"),
    ],
)
async def test_a_replaced_file_keeps_line_ends_and_encoding(agent: Agent, before: bytes, content: str, after: bytes):
    (agent.folder / "f.txt").write_bytes(before)

    await agent.output("Write", file_path="f.txt", content=content)

    assert (agent.folder / "f.txt").read_bytes() == after


async def test_writing_the_same_content_changes_nothing(agent: Agent):
    outcome = await agent.call("Write", file_path="README.md", content="# Tide\n\nReads gauges.\n")

    assert outcome == ToolOutcome(output="README.md already has this content.")


@pytest.mark.parametrize(
    ("before", "old", "new", "every", "after"),
    [
        (b"one\ntwo\n", "two", "2", False, b"one\n2\n"),
        (b"a a a", "a", "b", True, b"b b b"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", False, b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "x\ny", False, b"a\r\nx\r\ny\r\n"),
        (b"a\nb\r\n", "a", "x\ny", False, b"x\ny\nb\r\n"),
        (b"caf\xe9 one", "one", "two", False, b"caf\xe9 two"),
        (b"\xff\xfea\x00", "a", "潮", False, b"\xff\xfe\x6e\x6f"),
        (b"no end", "end", "", False, b"no "),
    ],
)
async def test_edit_replaces_only_the_exact_text(
    agent: Agent, before: bytes, old: str, new: str, every: bool, after: bytes
):
    (agent.folder / "f.txt").write_bytes(before)

    await agent.output("Edit", file_path="f.txt", old_string=old, new_string=new, replace_all=every)

    assert (agent.folder / "f.txt").read_bytes() == after


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            {"old_string": "none", "new_string": "x"},
            "tool_arguments",
            "old_string: is not in src/app.py. Read the file and copy the text exactly.",
        ),
        (
            {"old_string": "print", "new_string": "x"},
            "tool_arguments",
            "old_string: occurs 2 times in src/app.py. Add surrounding lines, or set replace_all.",
        ),
        (
            {"old_string": "one", "new_string": "one"},
            "tool_arguments",
            "new_string: equals old_string, so nothing would change. Send another new_string.",
        ),
        (
            {"file_path": "none.py", "old_string": "a", "new_string": "b"},
            "tool_failed",
            "There is no file none.py. Use `write` to create it.",
        ),
        (
            {"file_path": "bin", "old_string": "a", "new_string": "b"},
            "tool_failed",
            "bin is binary data, 2 bytes: `edit` changes only text. Replace it with `write`, or change it with `bash`.",
        ),
        (
            {"file_path": "latin", "old_string": "e", "new_string": "潮"},
            "tool_arguments",
            (
                "new_string: has characters that latin cannot store: it is latin-1. "
                "Leave them out, or replace the file with `write`."
            ),
        ),
    ],
)
async def test_an_invalid_edit_is_denied_without_a_question(
    agent: Agent, arguments: dict[str, object], code: str, message: str
):
    """CTL-05"""
    (agent.folder / "bin").write_bytes(b"\x00a")
    (agent.folder / "latin").write_bytes(b"\xe9e")
    before = read_tree(agent.folder)

    evaluation = await agent.with_context(permission_mode="ask").evaluate(
        "Edit", **{"file_path": "src/app.py", **arguments}
    )

    assert (evaluation.verdict, evaluation.code, evaluation.message) == ("deny", code, message)
    assert read_tree(agent.folder) == before


async def test_a_read_only_file_is_not_changed(agent: Agent):
    (agent.folder / "README.md").chmod(0o444)

    outcome = await agent.call("Write", file_path="README.md", content="x")

    assert outcome == ToolOutcome(output="", code="tool_failed", message="README.md is read-only.")
    assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "src"]


async def test_write_does_not_replace_a_folder(agent: Agent):
    assert (await agent.call("Write", file_path="src", content="x")).message == "src: src is a folder."
    assert (await agent.call("Write", file_path=".", content="x")).code == "path_denied"


def test_write_does_not_overwrite_a_file_created_meanwhile(folder: Path):
    """SAFE-07"""
    (folder / "new.txt").write_text("theirs")

    with Folder(str(folder)) as opened, pytest.raises(ChangedMeanwhileError):
        replace(opened, PlannedChange("new.txt", None, b"ours"), threading.Event())

    assert (folder / "new.txt").read_text() == "theirs"
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "new.txt", "src"]


@pytest.mark.parametrize("now", [b"other", None])
def test_a_file_changed_or_removed_meanwhile_is_not_replaced(folder: Path, now: bytes | None):
    """SAFE-07"""
    file = folder / "README.md"
    plan = PlannedChange("README.md", file.read_bytes(), b"ours")
    if now is None:
        file.unlink()
    else:
        file.write_bytes(now)
    before = read_tree(folder)

    with Folder(str(folder)) as opened, pytest.raises(ChangedMeanwhileError):
        replace(opened, plan, threading.Event())

    assert read_tree(folder) == before


def test_a_stopped_change_is_not_made(folder: Path):
    stop = threading.Event()
    stop.set()
    before = read_tree(folder)

    with Folder(str(folder)) as opened, pytest.raises(StoppedError):
        replace(opened, PlannedChange("README.md", (folder / "README.md").read_bytes(), b"ours"), stop)

    assert read_tree(folder) == before


async def test_one_of_many_concurrent_changes_succeeds(agent: Agent):
    writes = [call("Write", file_path="README.md", content=f"{number}\n") for number in range(8)]
    evaluated = [await agent.toolbox.evaluate(write, agent.context) for write in writes]

    outcomes = await asyncio.gather(*map(agent.run, writes, evaluated))

    codes = [outcome.code for outcome in outcomes]
    assert sorted(codes, key=str) == [None, *["file_changed"] * 7]
    assert (agent.folder / "README.md").read_text() == f"{codes.index(None)}\n"


def test_fingerprints_distinguish_contents_and_absence():
    assert compute_fingerprint(b"a") == hashlib.sha256(b"a").hexdigest()
    assert compute_fingerprint(None) == "absent"
