"""R6: irregular files in a backup or a state folder are detected before use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from callboard.app.backups import archive, back_up, finish_restore, restore
from callboard.app.hosting import host
from callboard.app.hosting.host import find_or_open
from callboard.app.state_folder import StateFolder
from callboard.contracts.errors import Refusal
from callboard.log.sqlite.lock import LOCK_FILE, find_writer
from callboard.log.sqlite.store import open_store
from tests.log.samples import fill


@pytest.fixture
async def state_folder(tmp_path: Path) -> StateFolder:
    state_folder = StateFolder(tmp_path / "home")
    state_folder.create()
    store = open_store(state_folder.store)
    await fill(store, 2)
    await store.close()
    state_folder.uploads.mkdir()
    (state_folder.uploads / "upl_1").write_text("kept")
    return state_folder


def pack_changed(state_folder: StateFolder, file: Path, change: Callable[[Path], None]) -> None:
    """Write a backup of a changed copy of the store, with a manifest of all its files."""
    back_up(state_folder, file, progress=lambda _: None)
    folder = file.with_suffix("")
    folder.mkdir()
    manifest = archive.unpack(file, folder)
    change(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    members = tuple(archive.describe_member(path, path.relative_to(folder).as_posix()) for path in files)
    archive.write(file, folder, msgspec.structs.replace(manifest, members=members))


def replace_uploads_by_file(folder: Path) -> None:
    (folder / "uploads" / "upl_1").unlink()
    (folder / "uploads").rmdir()
    (folder / "uploads").write_text("")


def replace_settings_by_folder(folder: Path) -> None:
    (folder / "settings.toml").mkdir()
    (folder / "settings.toml" / "x").write_text("")


def add_folder_to_uploads(folder: Path) -> None:
    (folder / "uploads" / "more").mkdir()
    (folder / "uploads" / "more" / "x").write_text("")


def replace_store_by_file(folder: Path) -> None:
    (folder / "store" / "callboard.db").unlink()
    (folder / "store").rmdir()
    (folder / "store").write_text("")


def remove_log(folder: Path) -> None:
    (folder / "store" / "callboard.db").unlink()


def add_other_file(folder: Path) -> None:
    (folder / "restoring.json").write_text("{}")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (replace_uploads_by_file, "it lists 'uploads'"),
        (replace_settings_by_folder, "it lists 'settings.toml/x'"),
        (add_folder_to_uploads, "it lists 'uploads/more/x'"),
        (replace_store_by_file, "it lists 'store'"),
        (remove_log, "store/callboard.db is missing"),
        (add_other_file, "it lists 'restoring.json'"),
    ],
)
def test_r6_a_backup_with_an_irregular_entry_changes_nothing(
    state_folder: StateFolder, tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    """R6: with a file in place of a folder, the next upload would fail."""
    file = tmp_path / "b.tar"
    pack_changed(state_folder, file, change)
    before = sorted(path.relative_to(state_folder.folder) for path in state_folder.folder.rglob("*"))

    with pytest.raises(Refusal) as refused:
        restore(state_folder, file, replace=True, progress=lambda _: None)

    assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "FILE")
    assert why in refused.value.problem.message
    assert sorted(path.relative_to(state_folder.folder) for path in state_folder.folder.rglob("*")) == before
    assert (state_folder.uploads / "upl_1").read_text() == "kept"


@pytest.mark.parametrize("name", ["settings.toml", "secrets.json"])
def test_r6_a_pipe_is_refused_without_waiting(state_folder: StateFolder, tmp_path: Path, name: str) -> None:
    os.mkfifo(state_folder.folder / name)

    with pytest.raises(Refusal, match="is not a regular file") as refused:
        back_up(state_folder, tmp_path / "b.tar", progress=lambda _: None)

    assert (refused.value.code, name in refused.value.problem.message) == ("store_unusable", True)
    assert not (tmp_path / "b.tar").exists()


@pytest.mark.parametrize("kind", ["a pipe", "no JSON"])
def test_r6_an_unreadable_mark_of_a_restore_is_reported(state_folder: StateFolder, kind: str) -> None:
    mark = state_folder.folder / "restoring.json"
    if kind == "a pipe":
        os.mkfifo(mark)
    else:
        mark.write_bytes(b"{")

    with pytest.raises(Refusal) as refused:
        finish_restore(state_folder)

    assert refused.value.code == "store_unusable"
    assert f"{mark} cannot be read" in refused.value.problem.message
    assert "restore the backup again" in refused.value.problem.hint


async def test_a_pipe_as_the_lock_of_the_store_causes_no_wait(state_folder: StateFolder) -> None:
    """D6: opening a pipe waits for its other end."""
    (state_folder.store / LOCK_FILE).unlink()
    os.mkfifo(state_folder.store / LOCK_FILE)

    assert find_writer(state_folder.store) is None
    with pytest.raises(Refusal) as refused:
        await find_or_open(state_folder)
    assert refused.value.code == "store_unusable"


def test_a_pipe_as_the_log_of_incidents_is_refused(state_folder: StateFolder) -> None:
    """D6: opening a pipe waits for its other end."""
    os.mkfifo(state_folder.log)

    with pytest.raises(Refusal, match="is not a regular file") as refused:
        host._open_log(state_folder, str)
    assert (refused.value.code, str(state_folder.log) in refused.value.problem.message) == ("store_unusable", True)


def test_r6_a_failed_disk_is_named_in_the_hint(state_folder: StateFolder) -> None:
    """R6: the start of a process's memory reads as an I/O error, as a bad sector does."""
    with pytest.raises(Refusal) as refused:
        restore(state_folder, Path("/proc/self/mem"), replace=True, progress=lambda _: None)

    assert (refused.value.code, refused.value.problem.hint) == (
        "store_unusable",
        "Check the disk (`dmesg`), then restart Callboard. Acknowledged commands are stored.",
    )
