"""Exports of evidence in the background of a session."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.chain import StoredBytes
from callboard.contracts.commands.evidence import (
    EvidenceExport,
    EvidencePacked,
    ExportEvidence,
    ExportList,
    ListExports,
)
from callboard.contracts.commands.session import DeleteSession
from callboard.contracts.commands.session_import import ImportedCall, ImportedPart, ImportTurn
from callboard.contracts.content import BlobRef
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.subagent import SubagentSpawned
from callboard.contracts.scope import Actor, Scope
from callboard.evidence.verify import Verdict, verify
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import plays, wait_fact, write_crew

HELLO = {"match": [{"text": "hi", "calls": [says("Hello.")]}, {"text": "more", "calls": [says("More.")]}]}


async def run_hello_turn(rig: RuntimeRig, text: str = "hi") -> str:
    """Return a session with one ended turn."""
    turn = await rig.submit(text)
    await rig.until(turn.session_id, "turn.completed")
    return turn.session_id


async def read_pack(rig: RuntimeRig, packed: EvidencePacked) -> bytes:
    """Return the bytes of a pack."""
    data = await rig.runtime.dependencies.store.blobs.get(packed.pack.hash)
    assert data is not None
    return data


def read_fact_lines(pack: bytes) -> list[dict[str, Any]]:
    """Return the facts of a pack."""
    with zipfile.ZipFile(io.BytesIO(pack)) as opened:
        return [json.loads(line) for line in opened.read("facts.jsonl").splitlines()]


def read_manifest(pack: bytes) -> dict[str, Any]:
    """Return the manifest of a pack."""
    with zipfile.ZipFile(io.BytesIO(pack)) as opened:
        return json.loads(opened.read("manifest.json"))


def verify_pack(pack: bytes) -> Verdict:
    """Verify a pack."""
    return verify(io.BytesIO(pack))


@asynccontextmanager
async def pause_exports(rig: RuntimeRig) -> AsyncIterator[asyncio.Event]:
    """Pause exports at their first read until the event is set."""
    go, facts = asyncio.Event(), rig.runtime.dependencies.store.facts
    real = facts.read_bytes

    async def gated(stream: str, **how: Any) -> tuple[StoredBytes, ...]:
        await go.wait()
        return await real(stream, **how)

    facts.read_bytes = gated
    try:
        yield go
    finally:
        go.set()
        del facts.read_bytes


async def wait_export(rig: RuntimeRig, session: str) -> EvidenceExport:
    """Return the session's running export."""
    async with asyncio.timeout(PATIENCE):
        while True:
            exports: ExportList = await rig.do(ListExports(session_id=session))
            if exports.exports:
                return exports.exports[0]
            await asyncio.sleep(0.005)


async def test_an_export_is_a_fact_and_its_pack_verifies(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        facts = await rig.facts(session)

        packed = await rig.do(ExportEvidence(session_id=session))

        pack = await read_pack(rig, packed)
        last = facts[-1]
        assert packed == EvidencePacked(
            session_id=session,
            evidence_id=packed.evidence_id,
            pack=BlobRef(hash=packed.pack.hash, size=len(pack), media="application/vnd.callboard.evidence+zip"),
            through=last.sequence,
            facts=last.sequence,
            link=last.link.hex(),
            sequence=last.sequence + 1,
        )
        assert packed.evidence_id.startswith("evd_")
        record = (await rig.facts(session))[-1]
        assert (record.scope, record.fact) == (
            Scope(evidence=packed.evidence_id),
            EvidenceExported(through=packed.through, facts=packed.facts, link=packed.link, pack=packed.pack),
        )
        verdict = verify_pack(pack)
        assert (verdict.ok, verdict.through, verdict.link, verdict.pack_hash, verdict.left_out) == (
            True,
            packed.through,
            packed.link,
            packed.pack.hash,
            0,
        )
        assert [line["type"] for line in read_fact_lines(pack)] == [record.header.type for record in facts]


async def test_a_repeated_export_returns_the_first_one_also_after_a_restart(tmp_path: Path):
    """CTL-01"""
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        request = ExportEvidence(session_id=session)
        first, second = await asyncio.gather(rig.do(request, key="k"), rig.do(request, key="k"))
        assert first == second
        assert (await rig.types(session)).count("evidence.exported") == 1
    async with open_runtime(tmp_path, HELLO) as rig:
        assert await rig.do(request, key="k") == first
        assert verify_pack(await read_pack(rig, first)).ok


async def test_a_tasks_pack_and_its_fact_have_the_childs_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """SUB-04"""
    # The facts are read in several pages.
    monkeypatch.setattr("callboard.runtime.services.evidence_exporter.PAGE", 7)
    scenario = plays(
        (
            "lead",
            "go",
            [
                use_tool("spawn_subagent", agent="worker", objective="alpha"),
                use_tool("wait_subagents"),
                says("It is there."),
            ],
        ),
        ("worker", "alpha", [use_tool("Glob", pattern="*.txt"), says("A.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go", permission_mode="full")
        session = turn.session_id
        await wait_fact(
            rig, session, lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead"
        )
        records = await rig.facts(session)
        child = next(record.scope for record in records if isinstance(record.fact, SubagentSpawned))

        packed = await rig.do(ExportEvidence(session_id=session, task_id=child.task))

        pack = await read_pack(rig, packed)
        assert verify_pack(pack).ok
        named = read_manifest(pack)["task"]
        assert (named["tasks"], named["agents"], named["threads"]) == ([child.task], ["worker-1"], [child.thread])
        chosen = {sequence for first, last in named["facts"] for sequence in range(first, last + 1)}
        assert chosen >= {record.sequence for record in records if child.thread == record.scope.thread}
        assert packed.facts == len(chosen) < packed.through == len(records)
        ids = [line["ids"] for line in read_fact_lines(pack) if line["sequence"] in chosen]
        assert {id["agentId"] for id in ids if id.get("threadId") == child.thread} == {"worker-1"}
        assert {id.get("taskId", child.task) for id in ids} == {child.task}
        fact = (await rig.facts(session))[-1]
        assert fact.scope == Scope(
            evidence=packed.evidence_id,
            task=child.task,
            agent="worker-1",
            thread=child.thread,
            parent_thread=child.parent_thread,
            parent_run=child.parent_run,
        )
        assert isinstance(fact.fact, EvidenceExported)
        assert fact.fact.task == child.task


async def test_a_session_continues_during_an_export_and_the_pack_ends_at_its_request(
    tmp_path: Path,
):
    """Agent UI specification: an export runs in the background, with progress, and blocks no
    stream."""
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        asked_at = len(await rig.facts(session))
        async with pause_exports(rig) as go:
            exporting = asyncio.create_task(rig.do(ExportEvidence(session_id=session)))
            under_way = await wait_export(rig, session)
            await rig.submit("more", session=session)
            await rig.until(session, "turn.completed", count=2)
            assert not exporting.done()
            go.set()
            packed = await exporting
        assert (under_way.task_id, under_way.done, under_way.through) == (None, 0, asked_at)
        assert packed.through == asked_at
        assert packed.sequence > asked_at + 1
        assert verify_pack(await read_pack(rig, packed)).ok
        assert await rig.do(ListExports(session_id=session)) == ExportList(exports=())


async def test_an_unused_session_can_be_closed_during_its_export(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO, idle=0.0, idle_waiting=0.0) as rig:
        session = await run_hello_turn(rig)
        async with pause_exports(rig) as go:
            exporting = asyncio.create_task(rig.do(ExportEvidence(session_id=session)))
            await wait_export(rig, session)
            await rig.wait_closed()
            go.set()
            packed = await exporting
        assert packed.sequence == packed.through + 1


async def test_a_shutdown_cancels_an_export_which_can_be_repeated(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        async with pause_exports(rig):
            exporting = asyncio.create_task(rig.do(ExportEvidence(session_id=session), "k1"))
            await wait_export(rig, session)
            await rig.runtime.commands.wait_settled()
            with pytest.raises(asyncio.CancelledError):
                await exporting
        assert await rig.do(ListExports(session_id=session)) == ExportList(exports=())
    async with open_runtime(tmp_path, HELLO) as rig:
        packed = await rig.do(ExportEvidence(session_id=session), "k1")
        assert verify_pack(await read_pack(rig, packed)).ok


async def test_a_session_deleted_during_its_export_leaves_no_pack(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        async with pause_exports(rig) as go:
            exporting = asyncio.create_task(rig.do(ExportEvidence(session_id=session)))
            await wait_export(rig, session)
            await rig.do(DeleteSession(session_id=session, confirm=session))
            go.set()
            with pytest.raises(Refusal) as refused:
                await exporting
        assert refused.value.code == "unknown_session"
        assert (await rig.runtime.dependencies.store.facts.read_head(session)).sequence == 0


async def test_deleting_a_session_deletes_its_packs(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        packed = await rig.do(ExportEvidence(session_id=session))
        await rig.do(DeleteSession(session_id=session, confirm=session))
        assert await rig.runtime.dependencies.store.blobs.get(packed.pack.hash) is None


async def test_a_pack_does_not_contain_earlier_packs(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        first = await rig.do(ExportEvidence(session_id=session))
        second = await rig.do(ExportEvidence(session_id=session))
        pack = await read_pack(rig, second)
        assert second.through == first.sequence
        assert [fact["hash"] for fact in read_manifest(pack)["leftOut"]] == [first.pack.hash]
        assert verify_pack(pack).ok


async def test_erased_content_is_in_no_later_pack_and_earlier_packs_are_deleted(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        first = await rig.do(ExportEvidence(session_id=session))
        facts = rig.runtime.dependencies.store.facts
        erased = next(record.sequence for record in await rig.facts(session) if record.header.type == "message.text")

        await facts.erase(session, erased)

        assert await rig.runtime.dependencies.store.blobs.get(first.pack.hash) is None
        pack = await read_pack(rig, await rig.do(ExportEvidence(session_id=session)))
        assert verify_pack(pack).ok
        assert verify_pack(pack).erased == 1
        assert "Hello." not in json.dumps(read_fact_lines(pack))


async def test_only_a_person_can_export_and_only_existing_subjects(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        session = await run_hello_turn(rig)
        before = await rig.types(session)
        refused: list[str] = []
        agent = Actor(kind="agent", id="lead")
        for request, actor in (
            (ExportEvidence(session_id=session), agent),
            (ExportEvidence(session_id=session, task_id="tsk_none"), None),
            (ExportEvidence(session_id="ses_none"), None),
        ):
            with pytest.raises(Refusal) as refusal:
                await (rig.runtime.commands.submit(request, actor=actor) if actor else rig.do(request))
            refused.append(refusal.value.code)
        assert refused == ["not_authorised", "unknown_task", "unknown_session"]
        assert await rig.types(session) == before


async def test_an_imported_session_can_be_exported(tmp_path: Path):
    async with open_runtime(tmp_path, HELLO) as rig:
        call = ImportedCall(parts=(ImportedPart(kind="text", text="Long ago."),), model="m", stop_reason="stop")
        turn = ImportTurn(
            workspace_id=rig.workspace,
            source="codex",
            source_id="one",
            title="Past",
            turn_id="trn_past",
            at=1_763_700_000_000_000,
            input="What was it?",
            calls=(call,),
            ended="completed",
        )
        imported = await rig.do(turn)

        packed = await rig.do(ExportEvidence(session_id=imported.session_id))

        assert "Long ago." in json.dumps(read_fact_lines(await read_pack(rig, packed)))
        assert (await rig.do(turn)).added is False
