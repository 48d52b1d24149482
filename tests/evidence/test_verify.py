"""Verification of evidence packs: the first defect and its location."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from typing import Any

import pytest

from callboard.evidence import layout
from callboard.evidence.verify import Verdict, verify
from tests.evidence.packs import (
    MADE_BY,
    SESSION,
    build_pack,
    create_session,
    forge_pack,
    read_fact_lines,
    read_manifest,
    rebuild_chain,
    unzip_files,
    zip_files,
)

Lines = list[dict[str, Any]]


def verify_pack(pack: bytes, link: str = "") -> Verdict:
    """Verify a pack."""
    return verify(io.BytesIO(pack), link=link)


def find_defect(pack: bytes) -> tuple[str, int]:
    """Return the failed check and the number of the fact."""
    finding = verify_pack(pack).finding
    return ("", 0) if finding is None else (finding.check, finding.sequence)


async def test_an_unchanged_pack_is_valid():
    store = await create_session()
    await store.facts.erase(SESSION, 3)
    head = await store.facts.read_head(SESSION)
    pack, _ = await build_pack(store, "tsk_child")

    assert verify_pack(pack, link=head.link.hex()) == Verdict(
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
    ("change", "finding"),
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
async def test_a_changed_removed_or_moved_fact_is_reported_with_its_number(
    change: Callable[[Lines], None], finding: tuple[str, int]
):
    """Design rule: the chain binds headers, payloads, salts and order."""
    pack, _ = await build_pack(await create_session())

    assert find_defect(forge_pack(pack, lines=change)) == finding


async def test_a_removed_tail_contradicts_the_manifest_and_a_shortened_manifest_the_expected_link():
    store = await create_session()
    pack, _ = await build_pack(store)
    last = read_fact_lines(unzip_files(pack))[4]["link"]

    assert find_defect(forge_pack(pack, lines=_drop(-1), manifest={"through": 5, "facts": 5})) == ("end", 0)
    shortened = forge_pack(pack, lines=_drop(-1), manifest={"through": 5, "facts": 5, "link": last})
    assert verify_pack(shortened).ok
    finding = verify_pack(shortened, link=(await store.facts.read_head(SESSION)).link.hex()).finding
    assert finding is not None
    assert (finding.check, finding.where) == ("expected", "fact 5")


async def test_a_rebuilt_chain_is_valid_alone_but_not_against_the_expected_link():
    """A pack alone cannot reveal a chain that was rebuilt as a whole; the last link from another source can."""
    store = await create_session()
    stored = list(await store.facts.read_bytes(SESSION))
    stored[2] = stored[2]._replace(payload=b'{"content":{"text":"nothing happened"}}')
    pack, _ = await build_pack(store)
    rebuilt = rebuild_chain(stored)

    def rewrite(lines: Lines) -> None:
        for line, fact in zip(lines, rebuilt, strict=True):
            line |= {"payload": (fact.payload or b"").decode(), "link": fact.link.hex()}

    rewritten = forge_pack(pack, lines=rewrite, manifest={"link": rebuilt[-1].link.hex()})

    assert verify_pack(rewritten).ok
    assert not verify_pack(rewritten, link=(await store.facts.read_head(SESSION)).link.hex()).ok


@pytest.mark.parametrize(
    ("claim", "finding"),
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
async def test_a_changed_manifest_is_reported(claim: dict[str, Any], finding: tuple[str, int]):
    pack, _ = await build_pack(await create_session())

    assert find_defect(forge_pack(pack, manifest=claim)) == finding


async def test_a_changed_selection_of_a_task_is_reported():
    pack, _ = await build_pack(await create_session(), "tsk_child")
    part = read_manifest(unzip_files(pack))["task"]

    for claim in (
        {"facts": [[3, 3], *part["facts"]]},
        {"facts": []},
        {"tasks": [*part["tasks"], "tsk_two"]},
        {"agents": ["lead"]},
        {"taskId": "tsk_none"},
    ):
        assert find_defect(forge_pack(pack, manifest={"task": part | claim})) == ("task", 0)


async def test_changed_added_or_removed_files_are_reported():
    pack, _ = await build_pack(await create_session())
    files = unzip_files(pack)
    blob = next(name for name in files if name.startswith(layout.BLOBS))

    assert find_defect(zip_files(files | {blob: files[blob].replace(b"long", b"lang")})) == ("blob", 0)
    assert find_defect(zip_files({name: data for name, data in files.items() if name != blob})) == ("pack", 0)
    assert find_defect(zip_files(files | {"more.txt": b"all is well"})) == ("pack", 0)
    assert find_defect(zip_files(files | {layout.README: b"All is well.\n"})) == ("file", 0)
    assert find_defect(zip_files({name: data for name, data in files.items() if name != layout.MANIFEST})) == (
        "manifest",
        0,
    )
    assert find_defect(zip_files(dict(reversed(files.items())))) == ("pack", 0)


async def test_any_changed_byte_is_reported():
    """Also in bytes that zip programs ignore. Every seventh byte is tested."""
    pack, _ = await build_pack(await create_session(), "tsk_child")
    assert verify_pack(pack).ok

    unreported = [at for at in range(0, len(pack), 7) if verify_pack(flip_bit(pack, at)).ok]

    assert unreported == []


async def test_other_files_are_reported_as_invalid():
    pack, _ = await build_pack(await create_session())
    for data in (b"", b"not a pack", os.urandom(5000), pack[:-1], pack[: len(pack) // 2], pack[5:], zip_files({})):
        verdict = verify_pack(data)
        assert not verdict.ok
        assert verdict.pack_hash == hashlib.sha256(data).hexdigest()
    assert find_defect(pack + b"\n") == ("checksum", 0)
    assert find_defect(b"#!/bin/sh\n" + pack) == ("checksum", 0)


def flip_bit(pack: bytes, at: int) -> bytes:
    return pack[:at] + bytes([pack[at] ^ 1]) + pack[at + 1 :]
