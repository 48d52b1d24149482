"""The faults that proofs plant do what they say, and say that they do it."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.log.sqlite import open_store

from .given import STREAM, batch, filled, frame, said
from .processes import child

VARIABLE = "CALLBOARD_SABOTAGE"


async def test_acknowledging_before_the_commit_loses_acknowledged_facts(tmp_path: Path) -> None:
    """A false acknowledgement may also end the writer before it has told of one: then another is killed."""
    lost: list[list[str]] = []
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        with child("write", folder, CALLBOARD_SABOTAGE="ack-before-commit") as writer:
            told = [each for each in (writer.line(), *writer.kill()) if each]
        store = open_store(folder)
        lost = [each for each in told if (await store.facts.head(each[0])).sequence < int(each[1])]
        await store.close()
        if lost:
            break
    assert lost


async def test_a_dropped_partial_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "drop-partial")
    store = open_store(tmp_path)
    await store.partials.write(STREAM, 1, [frame("text")])
    assert await store.partials.read(STREAM) == ()
    await store.close()


async def test_without_the_fence_a_writer_whose_lock_was_lost_still_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "skip-fence")
    stale = open_store(tmp_path)
    await filled(stale, 1)
    (tmp_path / "writer.lock").unlink()
    taken = open_store(tmp_path)

    await stale.facts.append(batch(1, said("from the dead"), epoch=1))

    assert (await taken.facts.head(STREAM)).sequence == 2
    await stale.close()
    await taken.close()


async def test_sabotage_is_loud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    await open_store(tmp_path).close()
    assert capfd.readouterr().err == ""

    monkeypatch.setenv(VARIABLE, "drop-partial, skip-fence")
    await open_store(tmp_path).close()
    assert capfd.readouterr().err.startswith("SABOTAGE: drop-partial, skip-fence.")

    monkeypatch.setenv(VARIABLE, "drop-everything")
    with pytest.raises(ValueError, match="drop-everything"):
        open_store(tmp_path)
