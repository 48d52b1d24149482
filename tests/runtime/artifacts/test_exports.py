"""Exports of artifacts in the background, with progress and retries."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path

import pytest

from callboard.contracts.commands.artifact import CreateArtifact, ExportArtifact, RetryArtifact
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.artifact import (
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactVersionCreated,
)
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.ports.store import Append
from callboard.contracts.record import Record
from tests.prove.evidence.erasure import erase
from tests.runtime.rigs.artifacts import (
    NOTES,
    artifact_session,
    list_artifacts,
    read_refusal,
    read_single_artifact,
    wait_export,
)
from tests.runtime.rigs.runtime_rig import PATIENCE, open_runtime, says, use_tool
from tests.runtime.sessions.test_recovery import copy_as_killed

TWICE = [use_tool("Write", file_path=NOTES, content=text) for text in ("one\n", "two\n")]
HOSTILE = """# Plan

| a | b |
|---|---|
| 1 | ~~2~~ |

<script>alert(1)</script><img src=x onerror="alert(2)">[go](javascript:alert(3))
"""


async def test_a_version_is_exported_unchanged_and_as_a_diff(tmp_path: Path) -> None:
    """UI-15"""
    async with artifact_session(tmp_path, *TWICE) as (rig, session):
        row = await read_single_artifact(rig, session)
        for command, name, text in (
            (ExportArtifact(session_id=session, artifact_ids=(row.key,), version=1), NOTES, "one\n"),
            (
                ExportArtifact(session_id=session, artifact_ids=(row.key,), form="diff"),
                "notes.md.1-2.diff",
                "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-one\n+two\n",
            ),
        ):
            begun = await rig.do(command)
            entry, data = await wait_export(rig, session, begun.export_id)
            assert (entry.name, data.decode(), entry.code) == (name, text, "")


async def test_an_export_continues_if_its_caller_is_cancelled(tmp_path: Path) -> None:
    """UI-15: every export that is recorded as started is made."""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        host = (await rig.runtime.sessions.get(session)).host
        await host.wait_settled()
        asking = asyncio.create_task(rig.do(ExportArtifact(session_id=session, artifact_ids=(row.key,))))
        while not host.is_busy:  # noqa: ASYNC110 - the host has no event for it
            await asyncio.sleep(0)
        asking.cancel()
        begun = await rig.until(session, "artifact.export.started")
        assert isinstance(begun.fact, ArtifactExportStarted)
        entry, data = await wait_export(rig, session, begun.fact.export)
        assert (entry.name, data) == (NOTES, b"one\n")


async def test_an_archive_contains_all_artifacts_and_reports_progress(tmp_path: Path) -> None:
    """UI-15, CTX-05: progress is in facts and in the row, and blocks no stream."""
    writes = [use_tool("Write", file_path=path, content=path) for path in ("a.md", "src/a.md", "b.py")]
    async with artifact_session(tmp_path, *writes, export_interval=0.0) as (rig, session):
        await rig.do(CreateArtifact(session_id=session, title="../A.md", content="kept"))
        begun = await rig.do(ExportArtifact(session_id=session, form="zip"))
        entry, data = await wait_export(rig, session, begun.export_id)
        assert (entry.name, entry.everything, entry.left_out) == ("artifacts.zip", True, 0)
        assert (entry.done, entry.total) == (20, 20)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = {name: archive.read(name).decode() for name in archive.namelist()}
        assert held == {"_A.md": "kept", "b.py": "b.py", "src/a.md": "src/a.md", "a.md": "a.md"}
        progress = [
            record.fact for record in await rig.facts(session) if isinstance(record.fact, ArtifactExportProgressed)
        ]
        assert [entry.done for entry in progress] == [4, 8, 16, 20]
        assert (await list_artifacts(rig, session)).exports == ()


async def test_a_markdown_page_contains_no_scripts(tmp_path: Path) -> None:
    async with artifact_session(tmp_path, use_tool("Write", file_path="plan.md", content=HOSTILE)) as (rig, session):
        row = await read_single_artifact(rig, session)
        begun = await rig.do(ExportArtifact(session_id=session, artifact_ids=(row.key,), form="html"))
        entry, data = await wait_export(rig, session, begun.export_id)
        page = data.decode()
        assert (entry.name, entry.content.media if entry.content else "") == ("plan.html", "text/html; charset=utf-8")
        assert "<h1>Plan</h1>" in page
        assert "<td>1</td>" in page
        assert "<s>2</s>" in page
        assert [entry for entry in ("<script", "onerror", 'href="javascript') if entry in page] == []


async def test_a_failed_export_has_a_reason_and_can_be_retried(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "logo.bin").write_bytes(b"\0\1\2")
    async with artifact_session(tmp_path, use_tool("Write", file_path="logo.bin", content="text\n")) as (rig, session):
        row = await read_single_artifact(rig, session)
        begun = await rig.do(ExportArtifact(session_id=session, artifact_ids=(row.key,), form="diff"))
        entry, _ = await wait_export(rig, session, begun.export_id)
        assert entry.code == "unsupported_media"
        assert (await read_single_artifact(rig, session)).status == "saved"
        again = RetryArtifact(session_id=session, artifact_id=row.key, export_id=begun.export_id)
        first = await rig.do(again, key="again")
        assert (first.export_id, await rig.do(again, key="again")) == (begun.export_id, first)
        never = RetryArtifact(session_id=session, artifact_id=row.key, export_id="exp_none")
        assert (await read_refusal(rig, never)).code == "unknown_export"


async def test_an_invalid_export_is_refused_without_a_fact(tmp_path: Path) -> None:
    async with artifact_session(tmp_path, *TWICE) as (rig, session):
        row = await read_single_artifact(rig, session)
        before = len(await rig.facts(session))
        for command, field in (
            (ExportArtifact(session_id=session, form="html"), "artifactIds"),
            (ExportArtifact(session_id=session, artifact_ids=(row.key,), version=9), "version"),
            (ExportArtifact(session_id=session, artifact_ids=("art_none",)), "artifactId"),
        ):
            assert (await read_refusal(rig, command)).field == field
        assert len(await rig.facts(session)) == before


async def test_an_export_omits_erased_content_and_counts_it(tmp_path: Path) -> None:
    """The content is erased while no process uses the session, as the port requires."""
    writes = use_tool("Write", file_path="a.md", content="a\n"), use_tool("Write", file_path="b.md", content="b\n")
    async with artifact_session(tmp_path, *writes) as (rig, session):
        ended = ArtifactVersionCreated, ToolCompleted
        of_a = [
            record.sequence
            for record in await rig.facts(session)
            if isinstance(record.fact, ended) and "a.md" in str(record)
        ]
    assert len(of_a) == 2
    await erase(tmp_path / "state", session, of_a)
    async with open_runtime(tmp_path, {"calls": []}) as rig:
        begun = await rig.do(ExportArtifact(session_id=session, form="zip"))
        entry, data = await wait_export(rig, session, begun.export_id)
        assert entry.left_out == 1
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.namelist() == ["b.md"]


async def test_an_export_that_failed_on_a_full_disk_is_recorded_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UI-26: it does not appear to be running, and can be repeated."""
    async with artifact_session(tmp_path, *TWICE, retry_interval=0.01) as (rig, session):
        row = await read_single_artifact(rig, session)
        append, refused = rig.runtime.dependencies.store.facts.append, 0

        async def refuses(batch: Append) -> tuple[Record, ...]:
            nonlocal refused
            ends = any(isinstance(new.fact, ArtifactExportCompleted | ArtifactFailed) for new in batch.facts)
            if ends and refused < 3:
                refused += 1
                raise Refusal("store_full", "There is no room.")
            return await append(batch)

        monkeypatch.setattr(rig.runtime.dependencies.store.facts, "append", refuses)
        begun = await rig.do(ExportArtifact(session_id=session, artifact_ids=(row.key,)))
        entry, _ = await wait_export(rig, session, begun.export_id)
        assert (refused, entry.code, entry.message) == (3, "store_full", "There is no room.")
        again = RetryArtifact(session_id=session, artifact_id=row.key, export_id=begun.export_id)
        assert (await rig.do(again)).export_id == begun.export_id
        await rig.until(session, "artifact.export.completed")
        entry, data = await wait_export(rig, session, begun.export_id)
        assert (entry.code, data) == ("", b"two\n")


async def test_a_shutdown_does_not_wait_for_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UI-26: the next opening of the session records how the export ended."""
    with monkeypatch.context() as patched:
        async with (
            asyncio.timeout(PATIENCE),
            artifact_session(tmp_path, *TWICE, retry_interval=0.01) as (rig, session),
        ):
            store, reading = rig.runtime.dependencies.store, asyncio.Event()
            append, row = store.facts.append, await read_single_artifact(rig, session)

            async def refuses(batch: Append) -> tuple[Record, ...]:
                if any(isinstance(new.fact, ArtifactFailed) for new in batch.facts):
                    raise Refusal("store_full", "There is no room.")
                return await append(batch)

            async def reads(_: str) -> None:
                reading.set()
                await asyncio.Event().wait()

            patched.setattr(store.facts, "append", refuses)
            patched.setattr(store.blobs, "get", reads)
            begun = await rig.do(ExportArtifact(session_id=session, artifact_ids=(row.key,)))
            await reading.wait()
    async with open_runtime(tmp_path, {"calls": []}) as rig:
        await read_single_artifact(rig, session)
        entry, _ = await wait_export(rig, session, begun.export_id)
        assert entry.code == "export_interrupted"


async def test_an_interrupted_export_has_failed_after_a_restart(tmp_path: Path) -> None:
    """It does not restart automatically and does not appear to be running."""
    async with artifact_session(tmp_path, *TWICE) as (rig, session):
        row = await read_single_artifact(rig, session)
        begun = await rig.do(ExportArtifact(session_id=session, artifact_ids=(row.key,)))
        async with open_runtime(copy_as_killed(rig, tmp_path), {"calls": [says("Again.")]}) as after:
            entry, _ = await wait_export(after, session, begun.export_id)
            failed = [record.fact for record in await after.facts(session) if isinstance(record.fact, ArtifactFailed)]
            assert [fact.code for fact in failed] == ([entry.code] if entry.code else [])
            assert entry.content is not None or entry.code == "export_interrupted"
