"""Content of an evidence pack."""

from __future__ import annotations

import io
from base64 import b64decode
from contextlib import closing
from hashlib import sha256

import pytest

from callboard.contracts.content import make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope
from callboard.evidence import layout, pack
from callboard.evidence.pack import PackResult, PackWriter
from callboard.log.memory import MemoryStore
from tests.evidence.packs import (
    LONG,
    MADE_BY,
    SESSION,
    append_facts,
    build_pack,
    create_session,
    read_fact_lines,
    read_manifest,
    unzip_files,
)


async def test_a_pack_has_the_chained_bytes():
    """Design rule: the chain is over the stored bytes."""
    store = await create_session()
    stored = await store.facts.read_bytes(SESSION)

    data, done = await build_pack(store)

    lines = read_fact_lines(unzip_files(data))
    assert [
        (
            line["sequence"],
            b64decode(line["header"]),
            bytes.fromhex(line["link"]),
            bytes.fromhex(line["salt"]),
            line["payload"].encode(),
        )
        for line in lines
    ] == [tuple(fact) for fact in stored]
    assert done == PackResult(through=6, facts=6, link=stored[-1].link, size=len(data))


async def test_a_line_repeats_the_fields_of_its_header():
    store = await create_session()

    line = read_fact_lines(unzip_files((await build_pack(store))[0]))[5]

    fields = {name: line[name] for name in ("sequence", "type", "time", "epoch", "commandId", "actor", "ids")}
    assert fields == {
        "sequence": 6,
        "type": "task.created",
        "time": "2025-11-21T04:40:00.000000Z",
        "epoch": 1,
        "commandId": "cmd_a",
        "actor": {"kind": "person"},
        "ids": {
            "agentId": "worker-1",
            "threadId": "thr_child",
            "taskId": "tsk_child",
            "parentThreadId": "thr_lead",
            "parentRunId": "run_lead",
        },
    }


async def test_the_manifest_has_all_claims_of_the_pack():
    store = await create_session()
    head = await store.facts.read_head(SESSION)

    files = unzip_files((await build_pack(store))[0])

    blob = sha256(LONG.encode()).hexdigest()
    assert list(files) == ["facts.jsonl", f"blobs/{blob}", "manifest.json", "README.txt"]
    assert files[f"blobs/{blob}"] == LONG.encode()
    assert read_manifest(files) == {
        "format": "callboard.evidence",
        "formatVersion": 1,
        "madeBy": MADE_BY,
        "sessionId": SESSION,
        "workspaceId": "wks_one",
        "through": 6,
        "facts": 6,
        "link": head.link.hex(),
        "hash": "SHA-256",
        "how": layout.COMPUTATIONS,
        "erased": [],
        "task": None,
        "blobs": [{"hash": blob, "size": len(LONG), "sequence": 4}],
        "leftOut": [],
        "files": {name: sha256(files[name]).hexdigest() for name in ("facts.jsonl", "README.txt")},
    }


async def test_the_readme_explains_verification_and_has_the_last_link():
    store = await create_session()

    readme = unzip_files((await build_pack(store))[0])["README.txt"].decode()

    assert (await store.facts.read_head(SESSION)).link.hex() in readme
    assert SESSION in readme
    assert 'SHA-256("callboard.chain.v1" + sessionId)' in readme
    assert f"head -c -{layout.COMMENT_BYTES} PACK | sha256sum" in readme


async def test_the_same_facts_result_in_the_same_pack_for_any_page_size():
    store = await create_session()

    assert (await build_pack(store, page=1))[0] == (await build_pack(store, page=6))[0]


async def test_an_erased_fact_keeps_its_header_and_digest():
    """Design rule: an erasure removes payload and salt, and the chain still verifies."""
    store = await create_session()
    before = await store.facts.read_bytes(SESSION)
    await store.facts.erase(SESSION, 3)
    await store.facts.erase(SESSION, 4)

    files = unzip_files((await build_pack(store))[0])

    line = read_fact_lines(files)[2]
    assert (line["erased"], line["type"], "salt" in line, "payload" in line) == (True, "message.text", False, False)
    assert line["digest"] == sha256(before[2].seal + (before[2].payload or b"")).hexdigest()
    assert read_manifest(files)["erased"] == [[3, 4]]
    assert read_manifest(files)["blobs"] == []
    everything = b"".join(files.values())
    assert b"a secret" not in everything
    assert b"a long text" not in everything


async def test_an_earlier_pack_is_listed_as_omitted():
    earlier = make_blob(b"PK\x03\x04 an earlier pack", layout.MEDIA)
    store = await create_session(
        NewFact(EvidenceExported(through=6, facts=6, link="", pack=earlier.ref), Scope(evidence="evd_a")),
        blobs=(earlier,),
    )

    files = unzip_files((await build_pack(store))[0])

    assert f"blobs/{earlier.ref.hash}" not in files
    assert read_manifest(files)["leftOut"] == [
        {
            "hash": earlier.ref.hash,
            "size": earlier.ref.size,
            "sequence": 7,
            "why": "an earlier evidence pack of this session",
        }
    ]


async def test_blobs_above_a_limit_are_listed_as_omitted(monkeypatch: pytest.MonkeyPatch):
    store = await create_session()
    blob = sha256(LONG.encode()).hexdigest()
    reasons: list[str] = []
    for name in ("MAX_BLOB_BYTES", "MAX_BLOBS_BYTES"):
        with monkeypatch.context() as patched:
            patched.setattr(pack, name, 1000)
            files = unzip_files((await build_pack(store))[0])
        assert f"blobs/{blob}" not in files
        reasons += [blob["why"] for blob in read_manifest(files)["leftOut"]]

    assert reasons == ["larger than 1000 bytes", "all blobs together would be larger than 1000 bytes"]


async def test_a_missing_blob_is_listed_as_omitted():
    store = await create_session()
    file = io.BytesIO()
    with closing(PackWriter(file, SESSION, MADE_BY)) as writer:
        writer.add_facts(await store.facts.read_bytes(SESSION))
        for blob in writer.finish_facts():
            writer.add_blob(blob, None)
        writer.finish()

    left_out = read_manifest(unzip_files(file.getvalue()))["leftOut"]
    assert [blob["why"] for blob in left_out] == ["no longer in the log, or not a blob"]


async def test_a_changed_log_is_not_exported():
    store = await create_session()
    stored = list(await store.facts.read_bytes(SESSION))
    for changed in (
        [*stored[:2], stored[2]._replace(payload=b'{"content":{"text":"nothing happened"}}'), *stored[3:]],
        [*stored[:2], *stored[3:]],
        [stored[1], stored[0]],
        [stored[0]._replace(payload=b"\xff")],
    ):
        with closing(PackWriter(io.BytesIO(), SESSION, MADE_BY)) as writer, pytest.raises(Refusal) as refused:
            writer.add_facts(changed)
        assert refused.value.code == "chain_broken"


async def test_a_changed_blob_is_not_exported():
    store = await create_session()
    with closing(PackWriter(io.BytesIO(), SESSION, MADE_BY)) as writer:
        writer.add_facts(await store.facts.read_bytes(SESSION))
        with pytest.raises(Refusal) as refused:
            writer.add_blob(writer.finish_facts()[0], b"x" * len(LONG))
    assert refused.value.code == "chain_broken"


async def test_a_too_large_session_is_refused(monkeypatch: pytest.MonkeyPatch):
    store = await create_session()
    for name in ("MAX_PACK_BYTES", "MAX_FACTS_BYTES"):
        with monkeypatch.context() as patched:
            patched.setattr(pack, name, 500)
            with pytest.raises(Refusal) as refused:
                await build_pack(store)
        assert refused.value.code == "too_large"


async def test_a_session_without_facts_results_in_an_empty_pack():
    _, done = await build_pack(MemoryStore())

    assert (done.through, done.facts) == (0, 0)


async def test_a_later_pack_extends_the_earlier_one():
    store = await create_session()
    first = read_fact_lines(unzip_files((await build_pack(store))[0]))
    await append_facts(
        store, NewFact(EvidenceExported(through=6, facts=6, link="", pack=make_blob(b"").ref), Scope(evidence="e"))
    )

    assert read_fact_lines(unzip_files((await build_pack(store))[0]))[:6] == first
