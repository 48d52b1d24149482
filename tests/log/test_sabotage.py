"""Effects of the faults that proofs inject into the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.log.sqlite import appends, open_store

from .processes import child
from .samples import batch, fill, text_fact


async def test_acknowledging_before_the_commit_loses_acknowledged_facts(tmp_path: Path) -> None:
    """A writer may end before its first acknowledgement. Then another one is killed."""
    lost: list[list[str]] = []
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        with child("write", folder, PLANTED="ack-before-commit") as writer:
            acknowledged = [each for each in (writer.line(), *writer.kill()) if each]
        store = open_store(folder)
        lost = [each for each in acknowledged if (await store.facts.read_head(each[0])).sequence < int(each[1])]
        await store.close()
        if lost:
            break
    assert lost


async def test_without_the_fence_a_writer_whose_lock_was_lost_still_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "check_head", lambda *_: None)
    stale = open_store(tmp_path)
    await fill(stale, 1)
    (tmp_path / "writer.lock").unlink()
    replacement = open_store(tmp_path)

    await stale.facts.append(batch(1, text_fact("from the dead"), epoch=1))

    assert (await replacement.facts.read_head("ses_one")).sequence == 2
    await stale.close()
    await replacement.close()
