"""File changes by a person: the confinement of tools, and a check of the former content."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.tools.builtin.folder_files import FolderFiles, check_changeable, compare


async def refusal_code(work: Awaitable[object]) -> str:
    """Return the code of the refusal."""
    with pytest.raises(Refusal) as refusal:
        await work
    return refusal.value.code


async def test_only_an_unchanged_file_is_replaced_or_removed(tmp_path: Path) -> None:
    """CTX-04"""
    files, file = FolderFiles(), tmp_path / "a.md"
    await files.replace(str(tmp_path), "a.md", None, b"one")
    assert await files.read(str(tmp_path), "a.md") == b"one"
    assert await refusal_code(files.replace(str(tmp_path), "a.md", None, b"two")) == "file_changed"
    assert await refusal_code(files.replace(str(tmp_path), "a.md", b"other", b"two")) == "file_changed"
    assert await refusal_code(files.remove(str(tmp_path), "a.md", b"other")) == "file_changed"
    assert file.read_bytes() == b"one"
    await files.remove(str(tmp_path), "a.md", b"one")
    assert await files.read(str(tmp_path), "a.md") is None
    assert not file.exists()


async def test_links_and_special_files_are_refused(tmp_path: Path) -> None:
    """SAFE-01"""
    files, folder = FolderFiles(), tmp_path / "work"
    (folder / "inner").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"secret")
    (folder / "link.md").symlink_to(outside / "a.md")
    (folder / "away").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    for path in ("link.md", "pipe"):
        assert await refusal_code(files.read(str(folder), path)) == "path_denied"
        assert await refusal_code(files.remove(str(folder), path, b"secret")) == "path_denied"
    for path in ("away/a.md", "away/new.md"):
        assert await refusal_code(files.replace(str(folder), path, b"secret", b"mine")) in (
            "path_denied",
            "tool_failed",
        )
        assert await refusal_code(files.replace(str(folder), path, None, b"mine")) in ("path_denied", "tool_failed")
    assert [file.read_bytes() for file in outside.iterdir()] == [b"secret"]


async def test_hidden_folders_are_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "state"
    hidden.mkdir()
    files = FolderFiles((str(hidden),))
    assert await refusal_code(files.replace(str(tmp_path), "state/a", None, b"x")) == "path_denied"
    assert await refusal_code(files.read(str(hidden), "a")) == "path_denied"


@pytest.mark.parametrize(
    "path",
    ["agents/a.md", "AGENTS/a.md", ".git/config", "sub/.git/config", ".callboard/x", "../a", "/etc/passwd", "", "."],
)
def test_protected_and_outside_paths_are_not_artifacts(tmp_path: Path, path: str) -> None:
    """SAFE-01, SAFE-08"""
    with pytest.raises(Refusal) as refusal:
        check_changeable(str(tmp_path), path)
    assert (refusal.value.code, refusal.value.problem.field) == ("path_denied", "path")


def test_an_absolute_path_in_the_folder_becomes_relative(tmp_path: Path) -> None:
    assert check_changeable(str(tmp_path), f"{tmp_path}/docs//./a.md") == "docs/a.md"


def test_binary_files_are_not_compared() -> None:
    """UI-14"""
    comparison = compare("a.bin", b"\0\1", b"text\n")
    assert (comparison.binary, comparison.diff, comparison.added, comparison.removed) == (True, "", 0, 0)
