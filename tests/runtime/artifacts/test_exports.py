"""Exports of artifacts: made in the background, told with progress, kept as blobs, made again where they failed."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path

import pytest

from callboard.contracts.commands.artifacts import CreateArtifact, ExportArtifact, RetryArtifact
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactVersionCreated,
    ToolCompleted,
)
from callboard.contracts.ports.store import Append
from callboard.contracts.record import Record
from tests.prove.evidence.erasure import erase
from tests.runtime.rigs.artifacts import NOTES, exported, listed, only, refused, wrote
from tests.runtime.rigs.house import PATIENCE, house, says, uses
from tests.runtime.sessions.test_recovery import killed

TWICE = [uses("Write", file_path=NOTES, content=text) for text in ("one\n", "two\n")]
HOSTILE = """# Plan

| a | b |
|---|---|
| 1 | ~~2~~ |

<script>alert(1)</script><img src=x onerror="alert(2)">[go](javascript:alert(3))
"""


async def test_a_version_is_exported_as_it_is_and_as_a_diff(tmp_path: Path) -> None:
    """UI-15"""
    async with wrote(tmp_path, *TWICE) as (home, session):
        row = await only(home, session)
        for asked, name, text in (
            (ExportArtifact(session_id=session, artifact_ids=(row.key,), version=1), NOTES, "one\n"),
            (
                ExportArtifact(session_id=session, artifact_ids=(row.key,), form="diff"),
                "notes.md.1-2.diff",
                "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-one\n+two\n",
            ),
        ):
            begun = await home.do(asked)
            entry, data = await exported(home, session, begun.export_id)
            assert (entry.name, data.decode(), entry.code) == (name, text, "")


async def test_an_export_is_made_also_where_its_asker_goes_away_while_it_is_written_down(tmp_path: Path) -> None:
    """UI-15: none is told as begun that nobody makes."""
    async with wrote(tmp_path) as (home, session):
        row = await only(home, session)
        host = (await home.runtime.sessions.get(session)).host
        await host.wait_settled()
        asking = asyncio.create_task(home.do(ExportArtifact(session_id=session, artifact_ids=(row.key,))))
        while not host.is_busy:  # noqa: ASYNC110 - what is waited for is a decision in this process
            await asyncio.sleep(0)
        asking.cancel()
        begun = await home.until(session, "artifact.export.started")
        assert isinstance(begun.fact, ArtifactExportStarted)
        entry, data = await exported(home, session, begun.fact.export)
        assert (entry.name, data) == (NOTES, b"one\n")


async def test_all_artifacts_go_into_an_archive_with_progress_told(tmp_path: Path) -> None:
    """UI-15, CTX-05: as facts, in the row, and without a stream that waits."""
    writes = [uses("Write", file_path=path, content=path) for path in ("a.md", "src/a.md", "b.py")]
    async with wrote(tmp_path, *writes, export_interval=0.0) as (home, session):
        await home.do(CreateArtifact(session_id=session, title="../A.md", content="kept"))
        begun = await home.do(ExportArtifact(session_id=session, form="zip"))
        entry, data = await exported(home, session, begun.export_id)
        assert (entry.name, entry.everything, entry.left_out) == ("artifacts.zip", True, 0)
        assert (entry.done, entry.total) == (20, 20)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = {name: archive.read(name).decode() for name in archive.namelist()}
        assert held == {"_A.md": "kept", "b.py": "b.py", "src/a.md": "src/a.md", "a.md": "a.md"}
        told = [one.fact for one in await home.facts(session) if isinstance(one.fact, ArtifactExportProgressed)]
        assert [one.done for one in told] == [4, 8, 16, 20]
        assert (await listed(home, session)).exports == ()


async def test_a_page_of_a_markdown_text_holds_nothing_that_runs(tmp_path: Path) -> None:
    async with wrote(tmp_path, uses("Write", file_path="plan.md", content=HOSTILE)) as (home, session):
        row = await only(home, session)
        begun = await home.do(ExportArtifact(session_id=session, artifact_ids=(row.key,), form="html"))
        entry, data = await exported(home, session, begun.export_id)
        page = data.decode()
        assert (entry.name, entry.content.media if entry.content else "") == ("plan.html", "text/html; charset=utf-8")
        assert "<h1>Plan</h1>" in page
        assert "<td>1</td>" in page
        assert "<s>2</s>" in page
        assert [one for one in ("<script", "onerror", 'href="javascript') if one in page] == []


async def test_an_export_that_cannot_be_made_says_why_and_can_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "logo.bin").write_bytes(b"\0\1\2")
    async with wrote(tmp_path, uses("Write", file_path="logo.bin", content="text\n")) as (home, session):
        row = await only(home, session)
        begun = await home.do(ExportArtifact(session_id=session, artifact_ids=(row.key,), form="diff"))
        entry, _ = await exported(home, session, begun.export_id)
        assert entry.code == "unsupported_media"
        assert (await only(home, session)).status == "saved"
        again = RetryArtifact(session_id=session, artifact_id=row.key, export_id=begun.export_id)
        assert (await home.do(again)).export_id == begun.export_id
        never = RetryArtifact(session_id=session, artifact_id=row.key, export_id="exp_none")
        assert (await refused(home, never)).code == "unknown_export"


async def test_what_cannot_be_exported_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    async with wrote(tmp_path, *TWICE) as (home, session):
        row = await only(home, session)
        before = len(await home.facts(session))
        for asked, field in (
            (ExportArtifact(session_id=session, form="html"), "artifactIds"),
            (ExportArtifact(session_id=session, artifact_ids=(row.key,), version=9), "version"),
            (ExportArtifact(session_id=session, artifact_ids=("art_none",)), "artifactId"),
        ):
            assert (await refused(home, asked)).field == field
        assert len(await home.facts(session)) == before


async def test_an_export_whose_content_was_erased_leaves_it_out_and_says_so(tmp_path: Path) -> None:
    """Nobody works in the session while it is erased: the store is opened by itself, as the port asks for."""
    writes = uses("Write", file_path="a.md", content="a\n"), uses("Write", file_path="b.md", content="b\n")
    async with wrote(tmp_path, *writes) as (home, session):
        ended = ArtifactVersionCreated, ToolCompleted
        of_a = [one.sequence for one in await home.facts(session) if isinstance(one.fact, ended) and "a.md" in str(one)]
    assert len(of_a) == 2
    await erase(tmp_path / "state", session, of_a)
    async with house(tmp_path, {"calls": []}) as home:
        begun = await home.do(ExportArtifact(session_id=session, form="zip"))
        entry, data = await exported(home, session, begun.export_id)
        assert entry.left_out == 1
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.namelist() == ["b.md"]


async def test_an_export_that_found_no_room_says_so_once_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UI-26: it does not look as if it went on for ever, and can be made again."""
    async with wrote(tmp_path, *TWICE, retry_interval=0.01) as (home, session):
        row = await only(home, session)
        append, refused = home.runtime.dependencies.store.facts.append, 0

        async def refuses(batch: Append) -> tuple[Record, ...]:
            nonlocal refused
            ends = any(isinstance(new.fact, ArtifactExportCompleted | ArtifactFailed) for new in batch.facts)
            if ends and refused < 3:
                refused += 1
                raise Refusal("store_full", "There is no room.")
            return await append(batch)

        monkeypatch.setattr(home.runtime.dependencies.store.facts, "append", refuses)
        begun = await home.do(ExportArtifact(session_id=session, artifact_ids=(row.key,)))
        entry, _ = await exported(home, session, begun.export_id)
        assert (refused, entry.code, entry.message) == (3, "store_full", "There is no room.")
        again = RetryArtifact(session_id=session, artifact_id=row.key, export_id=begun.export_id)
        assert (await home.do(again)).export_id == begun.export_id
        await home.until(session, "artifact.export.completed")
        entry, data = await exported(home, session, begun.export_id)
        assert (entry.code, data) == ("", b"two\n")


async def test_a_close_waits_for_no_room_to_tell_of_an_export_that_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UI-26: who opens the session next tells how it ended."""
    with monkeypatch.context() as patched:
        async with asyncio.timeout(PATIENCE), wrote(tmp_path, *TWICE, retry_interval=0.01) as (home, session):
            store, reading = home.runtime.dependencies.store, asyncio.Event()
            append, row = store.facts.append, await only(home, session)

            async def refuses(batch: Append) -> tuple[Record, ...]:
                if any(isinstance(new.fact, ArtifactFailed) for new in batch.facts):
                    raise Refusal("store_full", "There is no room.")
                return await append(batch)

            async def reads(_: str) -> None:
                reading.set()
                await asyncio.Event().wait()

            patched.setattr(store.facts, "append", refuses)
            patched.setattr(store.blobs, "get", reads)
            begun = await home.do(ExportArtifact(session_id=session, artifact_ids=(row.key,)))
            await reading.wait()
    async with house(tmp_path, {"calls": []}) as home:
        await only(home, session)
        entry, _ = await exported(home, session, begun.export_id)
        assert entry.code == "export_interrupted"


async def test_an_export_that_a_process_left_has_failed_when_the_session_is_opened_again(tmp_path: Path) -> None:
    """Nothing is begun again by itself, and nothing looks as if it went on."""
    async with wrote(tmp_path, *TWICE) as (home, session):
        row = await only(home, session)
        begun = await home.do(ExportArtifact(session_id=session, artifact_ids=(row.key,)))
        async with house(killed(home, tmp_path), {"calls": [says("Again.")]}) as after:
            entry, _ = await exported(after, session, begun.export_id)
            failed = [one.fact for one in await after.facts(session) if isinstance(one.fact, ArtifactFailed)]
            assert [one.code for one in failed] == ([entry.code] if entry.code else [])
            assert entry.content is not None or entry.code == "export_interrupted"
