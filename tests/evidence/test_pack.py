"""What a pack of evidence holds."""

from __future__ import annotations

import io
from base64 import b64decode
from contextlib import closing
from hashlib import sha256

import pytest

from callboard.contracts.content import blob_of
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import EvidenceExported
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope
from callboard.evidence import layout, pack
from callboard.evidence.pack import PackResult, PackWriter
from callboard.log.memory import MemoryStore
from tests.evidence.given import LONG, MADE_BY, SESSION, files_of, lines_of, manifest_of, packed, say, session


async def test_a_pack_holds_the_very_bytes_that_were_chained():
    """Design rule: the chain is over the stored bytes."""
    store = await session()
    stored = await store.facts.stored(SESSION)

    data, done = await packed(store)

    lines = lines_of(files_of(data))
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


async def test_a_line_tells_what_its_header_says():
    store = await session()

    line = lines_of(files_of((await packed(store))[0]))[5]

    told = {name: line[name] for name in ("sequence", "type", "time", "epoch", "commandId", "actor", "ids")}
    assert told == {
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


async def test_the_manifest_says_all_that_the_pack_claims():
    store = await session()
    head = await store.facts.head(SESSION)

    files = files_of((await packed(store))[0])

    blob = sha256(LONG.encode()).hexdigest()
    assert list(files) == ["facts.jsonl", f"blobs/{blob}", "manifest.json", "README.txt"]
    assert files[f"blobs/{blob}"] == LONG.encode()
    assert manifest_of(files) == {
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


async def test_the_words_that_go_with_a_pack_say_how_to_check_it_and_name_the_last_link():
    store = await session()

    words = files_of((await packed(store))[0])["README.txt"].decode()

    assert (await store.facts.head(SESSION)).link.hex() in words
    assert SESSION in words
    assert 'SHA-256("callboard.chain.v1" + sessionId)' in words
    assert f"head -c -{layout.COMMENT_BYTES} PACK | sha256sum" in words


async def test_the_same_facts_make_the_same_pack_however_they_come():
    store = await session()

    assert (await packed(store, page=1))[0] == (await packed(store, page=6))[0]


async def test_of_an_erased_fact_the_header_and_the_digest_are_left():
    """Design rule: erasing a payload takes its salt, and the chain still verifies."""
    store = await session()
    before = await store.facts.stored(SESSION)
    await store.facts.erase(SESSION, 3)
    await store.facts.erase(SESSION, 4)

    files = files_of((await packed(store))[0])

    line = lines_of(files)[2]
    assert (line["erased"], line["type"], "salt" in line, "payload" in line) == (True, "message.text", False, False)
    assert line["digest"] == sha256(before[2].seal + (before[2].payload or b"")).hexdigest()
    assert manifest_of(files)["erased"] == [[3, 4]]
    assert manifest_of(files)["blobs"] == []
    everything = b"".join(files.values())
    assert b"a secret" not in everything
    assert b"a long text" not in everything


async def test_an_earlier_pack_is_named_and_not_packed_again():
    earlier = blob_of(b"PK\x03\x04 an earlier pack", layout.MEDIA)
    store = await session(
        NewFact(EvidenceExported(through=6, facts=6, link="", pack=earlier.ref), Scope(evidence="evd_a")),
        blobs=(earlier,),
    )

    files = files_of((await packed(store))[0])

    assert f"blobs/{earlier.ref.hash}" not in files
    assert manifest_of(files)["leftOut"] == [
        {
            "hash": earlier.ref.hash,
            "size": earlier.ref.size,
            "sequence": 7,
            "why": "an earlier pack of evidence of this session",
        }
    ]


async def test_what_does_not_fit_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch):
    store = await session()
    blob = sha256(LONG.encode()).hexdigest()
    reasons: list[str] = []
    for name in ("LARGEST_BLOB", "LARGEST_BLOBS"):
        with monkeypatch.context() as patched:
            patched.setattr(pack, name, 1000)
            files = files_of((await packed(store))[0])
        assert f"blobs/{blob}" not in files
        reasons += [one["why"] for one in manifest_of(files)["leftOut"]]

    assert reasons == ["larger than 1000 bytes", "the blobs would be more than 1000 bytes together"]


async def test_a_blob_that_is_gone_is_left_out_and_said():
    store = await session()
    file = io.BytesIO()
    with closing(PackWriter(file, SESSION, MADE_BY)) as packer:
        packer.add_facts(await store.facts.stored(SESSION))
        for wanted in packer.wanted_blobs():
            packer.add_blob(wanted, None)
        packer.finish()

    left_out = manifest_of(files_of(file.getvalue()))["leftOut"]
    assert [one["why"] for one in left_out] == ["no longer in the log, or never a blob"]


async def test_a_log_that_was_changed_is_not_exported():
    store = await session()
    stored = list(await store.facts.stored(SESSION))
    for changed in (
        [*stored[:2], stored[2]._replace(payload=b'{"content":{"text":"nothing happened"}}'), *stored[3:]],
        [*stored[:2], *stored[3:]],
        [stored[1], stored[0]],
        [stored[0]._replace(payload=b"\xff")],
    ):
        with closing(PackWriter(io.BytesIO(), SESSION, MADE_BY)) as packer, pytest.raises(Refusal) as refused:
            packer.add_facts(changed)
        assert refused.value.code == "chain_broken"


async def test_a_blob_that_was_changed_is_not_exported():
    store = await session()
    with closing(PackWriter(io.BytesIO(), SESSION, MADE_BY)) as packer:
        packer.add_facts(await store.facts.stored(SESSION))
        with pytest.raises(Refusal) as refused:
            packer.add_blob(packer.wanted_blobs()[0], b"x" * len(LONG))
    assert refused.value.code == "chain_broken"


async def test_a_session_that_is_too_large_for_a_pack_is_refused(monkeypatch: pytest.MonkeyPatch):
    store = await session()
    for name in ("LARGEST_PACK", "LARGEST_FACTS"):
        with monkeypatch.context() as patched:
            patched.setattr(pack, name, 500)
            with pytest.raises(Refusal) as refused:
                await packed(store)
        assert refused.value.code == "too_large"


async def test_a_session_without_facts_makes_a_pack_that_says_so():
    _, done = await packed(MemoryStore())

    assert (done.through, done.facts) == (0, 0)


async def test_a_later_pack_shows_what_came_since():
    store = await session()
    first = lines_of(files_of((await packed(store))[0]))
    await say(store, NewFact(EvidenceExported(through=6, facts=6, link="", pack=blob_of(b"").ref), Scope(evidence="e")))

    assert lines_of(files_of((await packed(store))[0]))[:6] == first
