"""R6: a restore that fails at any step leaves the complete former or new state."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.app.backups import back_up, backup_restorer, backup_writer, finish_restore, restore
from callboard.app.hosting.host import find_or_open
from callboard.app.state_folder import StateFolder
from callboard.contracts.errors import Refusal
from callboard.log.sqlite.store import SqliteStore, open_store
from tests.log.samples import STREAM, fill

#: Above the number of steps of a restore.
MAX_STEPS = 40
NAMES = ("settings.toml", "secrets.json", "uploads/upl_1")
#: Steps: renames, exchanges of folders, removals of files, and syncs of folders.
STEPS = (
    (Path, "rename"),
    (Path, "replace"),
    (Path, "unlink"),
    (backup_restorer, "_exchange"),
    (backup_restorer, "sync_folder"),
)


async def _fill(state_folder: StateFolder, count: int, word: str) -> None:
    state_folder.create()
    store = open_store(state_folder.store)
    await fill(store, count)
    await store.close()
    state_folder.uploads.mkdir(exist_ok=True)
    for name in NAMES:
        (state_folder.folder / name).write_text(word)


async def _read_state(state_folder: StateFolder) -> tuple[int, set[str]]:
    """Return the number of facts, and the contents of the other files."""
    store = open_store(state_folder.store, read_only=True)
    facts = len(await store.facts.read(STREAM))
    await store.close()
    return facts, {
        (state_folder.folder / name).read_text() if (state_folder.folder / name).exists() else "" for name in NAMES
    }


class _Fails:
    """Failure of the step with a number, after the steps before it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, *, exchanges: bool) -> None:
        self.done = 0
        for owner, name in STEPS:
            real: Callable[..., object] = getattr(owner, name)

            def step(
                *arguments: object, real: Callable[..., object] = real, name: str = name, **more: object
            ) -> object:
                if self.done == at:
                    raise OSError(5, "Input/output error")
                self.done += 1
                return False if name == "_exchange" and not exchanges else real(*arguments, **more)

            monkeypatch.setattr(owner, name, step)


@pytest.mark.parametrize("exchanges", [True, False])
async def test_r6_a_restore_that_fails_at_any_step_is_complete_after_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    """R6: settings, secrets, uploads and store always belong to one state."""
    first, backup = StateFolder(tmp_path / "first"), tmp_path / "b.tar"
    await _fill(first, 2, "new")
    back_up(first, backup, progress=lambda _: None)
    former = StateFolder(tmp_path / "former")
    await _fill(former, 5, "former")
    states = ((5, {"former"}), (2, {"new"}))
    outcomes: list[tuple[bool, tuple[int, set[str]]]] = []
    for at in range(MAX_STEPS):
        state_folder = StateFolder(tmp_path / f"home-{at}")
        shutil.copytree(former.folder, state_folder.folder)
        with monkeypatch.context() as patch:
            _Fails(patch, at, exchanges=exchanges)
            try:
                restore(state_folder, backup, replace=True, progress=lambda _: None)
            except Refusal:
                failed = True
            else:
                failed = False
        decided = (state_folder.folder / "restoring.json").exists()
        if not decided:
            assert await _read_state(state_folder) in states, f"step {at}"
        store = await find_or_open(state_folder)
        assert isinstance(store, SqliteStore)
        await store.close()
        state = await _read_state(state_folder)
        assert state == states[1] if decided else state in states, f"step {at}"
        assert not (state_folder.folder / ".restoring").exists() or not decided
        stores = list(state_folder.folder.glob("store*/callboard.db"))
        assert state == states[0] or len(stores) == 2, f"step {at}: the former store is kept"
        outcomes.append((decided, state))
        if not failed:
            break
    assert not failed, "a step was missed"
    assert {state[0] for _, state in outcomes} == {5, 2}
    assert any(decided for decided, _ in outcomes)


async def test_r6_a_start_during_a_restore_is_refused(tmp_path: Path) -> None:
    """R6: two processes cannot finish one restore."""
    state_folder = StateFolder(tmp_path / "home")
    await _fill(state_folder, 2, "former")
    (state_folder.folder / "restoring.json").write_text('{"ending":"before-1","names":[]}')
    with backup_restorer._lock_staging(state_folder), pytest.raises(Refusal) as refused:
        await asyncio.to_thread(finish_restore, state_folder)
    assert refused.value.code == "store_locked"
    finish_restore(state_folder)
    assert not (state_folder.folder / "restoring.json").exists()


#: A process that is killed while it checks its copy: `KILLED VERB HOME FILE`.
KILLED = """
import os, signal, sys
from pathlib import Path
from callboard.app.backups import back_up, backup_restorer, backup_writer, restore
from callboard.app.state_folder import StateFolder

def killed(*given, **more):
    os.kill(os.getpid(), signal.SIGKILL)

backup_restorer.check_store = backup_writer.check_store = killed
state_folder, place = StateFolder(Path(sys.argv[2])), Path(sys.argv[3])
if sys.argv[1] == "restore":
    restore(state_folder, place, replace=True, progress=print)
else:
    back_up(state_folder, place, progress=print)
"""


def _killed(verb: str, state_folder: StateFolder, file: Path) -> None:
    command = [sys.executable, "-c", KILLED, verb, str(state_folder.folder), str(file)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


async def test_r6_the_start_after_a_killed_restore_removes_its_copy_of_the_log(tmp_path: Path) -> None:
    """R6: the copy could contain sessions deleted later."""
    state_folder, backup = StateFolder(tmp_path / "home"), tmp_path / "b.tar"
    await _fill(state_folder, 2, "former")
    back_up(state_folder, backup, progress=lambda _: None)
    _killed("restore", state_folder, backup)
    assert len(list(state_folder.folder.glob(".restor*/store/callboard.db"))) == 1
    (state_folder.folder / ".restoring").mkdir()

    store = await find_or_open(state_folder)
    assert isinstance(store, SqliteStore)
    await store.close()

    assert list(state_folder.folder.glob(".restor*")) == []
    assert await _read_state(state_folder) == (2, {"former"})


async def test_r6_the_backup_after_a_killed_backup_removes_its_copy_of_the_log(tmp_path: Path) -> None:
    """R6: the copy could contain sessions deleted later. The copy of a running backup stays."""
    state_folder, folder = StateFolder(tmp_path / "home"), tmp_path / "backups"
    await _fill(state_folder, 2, "former")
    folder.mkdir()
    _killed("backup", state_folder, folder / "a.tar")
    (leftover,) = folder.iterdir()

    with backup_writer._create_temporary_folder(folder) as copy:
        assert not leftover.exists()
        back_up(state_folder, folder / "c.tar", progress=lambda _: None)
        assert sorted(folder.iterdir()) == sorted((copy, folder / "c.tar"))
    assert list(folder.iterdir()) == [folder / "c.tar"]
