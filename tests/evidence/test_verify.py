"""What a pack of evidence proves by itself: the first thing that is wrong, and where."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from typing import Any

import pytest

from callboard.evidence import layout
from callboard.evidence.verify import Verdict, verify
from tests.evidence.given import (
    MADE_BY,
    SESSION,
    chained_anew,
    files_of,
    forged,
    lines_of,
    manifest_of,
    packed,
    session,
    zipped,
)

Lines = list[dict[str, Any]]


def checked(pack: bytes, link: str = "") -> Verdict:
    """The verdict on a pack."""
    return verify(io.BytesIO(pack), link=link)


def found(pack: bytes) -> tuple[str, int]:
    """Which check found something wrong, and at which fact."""
    finding = checked(pack).finding
    return ("", 0) if finding is None else (finding.check, finding.sequence)


async def test_a_whole_pack_holds():
    store = await session()
    await store.facts.erase(SESSION, 3)
    head = await store.facts.head(SESSION)
    pack, _ = await packed(store, "tsk_child")

    assert checked(pack, link=head.link.hex()) == Verdict(
        ok=True,
        session_id=SESSION,
        workspace_id="wks_one",
        made_by=MADE_BY,
        through=6,
        facts=6,
        link=head.link.hex(),
        erased=1,
        blobs=1,
        left_out=0,
        task_id="tsk_child",
        task_facts=1,
        pack_hash=hashlib.sha256(pack).hexdigest(),
    )


def _set(at: int, **changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[at].update(changes)


def _swap(lines: Lines) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def _swap_numbered(lines: Lines) -> None:
    _swap(lines)
    lines[1]["sequence"], lines[2]["sequence"] = 2, 3


def _payload(lines: Lines) -> None:
    lines[2]["payload"] = lines[2]["payload"].replace("secret", "public")


def _salt(lines: Lines) -> None:
    lines[2]["salt"] = "00" * 16


def _header(lines: Lines) -> None:
    lines[2]["header"] = lines[1]["header"]


def _drop(at: int) -> Callable[[Lines], None]:
    return lambda lines: lines.__delitem__(at)


def _erase(lines: Lines) -> None:
    for name in ("salt", "payload"):
        del lines[2][name]
    lines[2] |= {"digest": "00" * 32, "erased": True}


def _repeat(lines: Lines) -> None:
    lines.insert(2, lines[1])


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (_payload, ("fact", 3)),
        (_salt, ("fact", 3)),
        (_header, ("fact", 3)),
        (_set(2, link="00" * 32), ("fact", 3)),
        (_set(2, type="tool.completed"), ("fact", 3)),
        (_set(2, time="2020-01-01T00:00:00.000000Z"), ("fact", 3)),
        (_set(2, ids={"agentId": "somebody else"}), ("fact", 3)),
        (_set(2, actor={"kind": "policy"}), ("fact", 3)),
        (_set(2, note="all is well"), ("fact", 0)),
        (_erase, ("fact", 3)),
        (_swap, ("fact", 2)),
        (_swap_numbered, ("fact", 2)),
        (_drop(0), ("fact", 1)),
        (_drop(2), ("fact", 3)),
        (_repeat, ("fact", 3)),
        (_drop(-1), ("end", 0)),
    ],
)
async def test_a_fact_that_was_changed_dropped_or_moved_is_found_where_it_stood(
    change: Callable[[Lines], None], wrong: tuple[str, int]
):
    """Design rule: the chain binds headers, payloads, salts and order."""
    pack, _ = await packed(await session())

    assert found(forged(pack, lines=change)) == wrong


async def test_a_dropped_tail_is_found_by_the_manifest_and_a_shortened_manifest_by_the_link_told_elsewhere():
    store = await session()
    pack, _ = await packed(store)
    last = lines_of(files_of(pack))[4]["link"]

    assert found(forged(pack, lines=_drop(-1), manifest={"through": 5, "facts": 5})) == ("end", 0)
    shortened = forged(pack, lines=_drop(-1), manifest={"through": 5, "facts": 5, "link": last})
    assert checked(shortened).ok
    finding = checked(shortened, link=(await store.facts.head(SESSION)).link.hex()).finding
    assert finding is not None
    assert (finding.check, finding.where) == ("expected", "fact 5")


async def test_a_chain_that_was_made_anew_holds_by_itself_and_is_found_by_the_link_told_elsewhere():
    """What a pack cannot prove alone is said, and can be proved with one number more."""
    store = await session()
    stored = list(await store.facts.stored(SESSION))
    stored[2] = stored[2]._replace(payload=b'{"content":{"text":"nothing happened"}}')
    pack, _ = await packed(store)
    anew = chained_anew(stored)

    def rewrite(lines: Lines) -> None:
        for line, fact in zip(lines, anew, strict=True):
            line |= {"payload": (fact.payload or b"").decode(), "link": fact.link.hex()}

    rewritten = forged(pack, lines=rewrite, manifest={"link": anew[-1].link.hex()})

    assert checked(rewritten).ok
    assert not checked(rewritten, link=(await store.facts.head(SESSION)).link.hex()).ok


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ({"sessionId": "ses_two"}, ("fact", 1)),
        ({"link": "00" * 32}, ("end", 0)),
        ({"facts": 7}, ("end", 0)),
        ({"erased": [[1, 2]]}, ("manifest", 0)),
        ({"format": "something.else"}, ("manifest", 0)),
        ({"formatVersion": 2}, ("manifest", 0)),
        ({"how": {"link": "trust me"}}, ("manifest", 0)),
        ({"hash": "MD5"}, ("manifest", 0)),
        ({"verified": True}, ("manifest", 0)),
        ({"blobs": []}, ("pack", 0)),
        ({"files": {}}, ("file", 0)),
    ],
)
async def test_a_manifest_that_claims_something_else_is_found(claim: dict[str, Any], wrong: tuple[str, int]):
    pack, _ = await packed(await session())

    assert found(forged(pack, manifest=claim)) == wrong


async def test_a_task_s_facts_are_those_that_are_its_own():
    pack, _ = await packed(await session(), "tsk_child")
    named = manifest_of(files_of(pack))["task"]

    for claim in (
        {"facts": [[3, 3], *named["facts"]]},
        {"facts": []},
        {"tasks": [*named["tasks"], "tsk_two"]},
        {"agents": ["lead"]},
        {"taskId": "tsk_none"},
    ):
        assert found(forged(pack, manifest={"task": named | claim})) == ("task", 0)


async def test_files_that_were_changed_added_or_dropped_are_found():
    pack, _ = await packed(await session())
    files = files_of(pack)
    blob = next(name for name in files if name.startswith(layout.BLOBS))

    assert found(zipped(files | {blob: files[blob].replace(b"long", b"lang")})) == ("blob", 0)
    assert found(zipped({name: data for name, data in files.items() if name != blob})) == ("pack", 0)
    assert found(zipped(files | {"more.txt": b"all is well"})) == ("pack", 0)
    assert found(zipped(files | {layout.README: b"All is well.\n"})) == ("file", 0)
    assert found(zipped({name: data for name, data in files.items() if name != layout.MANIFEST})) == ("manifest", 0)
    assert found(zipped(dict(reversed(files.items())))) == ("pack", 0)


async def test_one_changed_byte_anywhere_is_found():
    """Also in what a zip program does not look at: the seventh byte of each seven stands for the others."""
    pack, _ = await packed(await session(), "tsk_child")
    assert checked(pack).ok

    unseen = [at for at in range(0, len(pack), 7) if checked(_flipped(pack, at)).ok]

    assert unseen == []


async def test_what_is_no_pack_is_said_to_be_none():
    pack, _ = await packed(await session())
    for data in (b"", b"not a pack", os.urandom(5000), pack[:-1], pack[: len(pack) // 2], pack[5:], zipped({})):
        verdict = checked(data)
        assert not verdict.ok
        assert verdict.pack_hash == hashlib.sha256(data).hexdigest()
    assert found(pack + b"\n") == ("checksum", 0)
    assert found(b"#!/bin/sh\n" + pack) == ("checksum", 0)


def _flipped(pack: bytes, at: int) -> bytes:
    return pack[:at] + bytes([pack[at] ^ 1]) + pack[at + 1 :]
