"""Checking a pack, with nothing but the pack.

It says the first thing that is wrong and where. It checks what the pack is made of before the zip's own checksum, so that a
change is told by the fact that it hit and not only as damage.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Literal

import msgspec

from callboard.contracts import chain
from callboard.contracts.chain import StoredBytes
from callboard.contracts.errors import Refusal
from callboard.contracts.record import decode_header

from . import layout
from .layout import FactLine, Manifest
from .lineage import Lineage, TaskPart

Check = Literal["pack", "manifest", "fact", "end", "task", "blob", "file", "checksum", "expected"]
_PIECE = 1 << 20
#: The longest line and the largest manifest that are looked at, in bytes.
_LONGEST = 64 * 1024 * 1024
_BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    msgspec.MsgspecError,
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is wrong and where. `sequence` is the fact's where it is one's."""

    check: Check
    where: str
    what: str
    sequence: int = 0


class Verdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was found. Without `finding` the pack holds. `pack_hash` is the SHA-256 of the whole file, as the fact
    `evidence.exported` names it. What was not reached before a finding is empty, and what is there is then only claimed."""

    ok: bool
    finding: Finding | None = None
    session_id: str = ""
    workspace_id: str = ""
    made_by: str = ""
    through: int = 0
    facts: int = 0
    link: str = ""
    erased: int = 0
    blobs: int = 0
    left_out: int = 0
    task_id: str = ""
    task_facts: int = 0
    pack_hash: str = ""


class _InvalidPackError(Exception):
    def __init__(self, check: Check, where: str, what: str, sequence: int = 0) -> None:
        super().__init__(what)
        self.finding = Finding(check=check, where=where, what=what, sequence=sequence)


def verify(file: IO[bytes], *, link: str = "") -> Verdict:
    """Checks the pack in a file that can be sought. `link` is the last link, in hex, as it was told another way."""
    pack_hash, checksum = _hashes(file)
    manifest: Manifest | None = None
    finding: Finding | None = None
    try:
        with _reporting("pack", "the zip"), zipfile.ZipFile(file) as pack:
            manifest = _manifest(pack)
            _members(pack, manifest)
            _facts(pack, manifest)
            _blobs(pack, manifest)
            _words(pack, manifest)
        if not checksum:
            raise _InvalidPackError("checksum", "the zip's comment", "it is not the SHA-256 of the bytes before it")
        if link and link.lower() != manifest.link:
            raise _InvalidPackError(
                "expected", f"fact {manifest.through}", f"the chain ends with {manifest.link}, not as expected"
            )
    except _InvalidPackError as wrong:
        finding = wrong.finding
    told = Verdict(ok=finding is None, finding=finding, pack_hash=pack_hash)
    if manifest is None:
        return told
    return msgspec.structs.replace(
        told,
        session_id=manifest.session_id,
        workspace_id=manifest.workspace_id,
        made_by=manifest.made_by,
        through=manifest.through,
        facts=manifest.facts,
        link=manifest.link,
        erased=sum(last - first + 1 for first, last in manifest.erased),
        blobs=len(manifest.blobs),
        left_out=len(manifest.left_out),
        task_id="" if manifest.task is None else manifest.task.task_id,
        task_facts=0 if manifest.task is None else manifest.task.fact_count,
    )


@contextmanager
def _reporting(check: Check, where: str) -> Generator[None]:
    """What cannot even be read is wrong there."""
    try:
        yield
    except _BROKEN as error:
        raise _InvalidPackError(check, where, f"it cannot be read: {error}") from error


def _hashes(file: IO[bytes]) -> tuple[str, bool]:
    """The hash of the whole, and whether the comment is that of what stands before it."""
    size = file.seek(0, 2)
    before, left = hashlib.sha256(), max(0, size - layout.COMMENT_BYTES)
    file.seek(0)
    while left:
        piece = file.read(min(_PIECE, left))
        before.update(piece)
        left -= len(piece)
    comment = file.read()
    whole = before.copy()
    whole.update(comment)
    return whole.hexdigest(), comment == layout.COMMENT + before.hexdigest().encode()


def _manifest(pack: zipfile.ZipFile) -> Manifest:
    with _reporting("manifest", layout.MANIFEST), pack.open(layout.MANIFEST) as file:
        data = file.read(_LONGEST)
        manifest = msgspec.json.decode(data, type=Manifest)
    if manifest.format != layout.FORMAT or manifest.format_version != layout.FORMAT_VERSION:
        what = f"it is of {manifest.format[:40]} {manifest.format_version}, which this version does not know"
        raise _InvalidPackError("manifest", layout.MANIFEST, what)
    if layout.manifest_bytes(manifest) != data:
        raise _InvalidPackError("manifest", layout.MANIFEST, "it is not written as a pack's manifest is")
    if manifest.hash != "SHA-256" or manifest.how != layout.COMPUTATIONS:
        raise _InvalidPackError("manifest", layout.MANIFEST, "it tells another way to compute a link")
    return manifest


def _members(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    blobs = [layout.BLOBS + blob.hash for blob in manifest.blobs]
    wanted = [layout.FACTS, *blobs, layout.MANIFEST, layout.README]
    for at, (is_there, named) in enumerate(zip(pack.namelist(), wanted, strict=False)):
        if is_there != named:
            raise _InvalidPackError("pack", is_there[:100], f"file {at + 1} of the zip should be {named}")
    if len(pack.namelist()) != len(wanted):
        raise _InvalidPackError(
            "pack", "the zip", f"it has {len(pack.namelist())} files, and the manifest names {len(wanted)}"
        )


def _facts(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    found, link, erased = 0, chain.genesis(manifest.session_id), list[int]()
    hashed = hashlib.sha256()
    lineage = None if manifest.task is None else Lineage()
    for line, raw in _lines(pack):
        found += 1
        hashed.update(raw)
        if line.sequence != found:
            raise _InvalidPackError(
                "fact", f"fact {found}", f"the sequence has a gap: {line.sequence} stands in its place", found
            )
        stored = _read(line, raw, found)
        digest = stored.seal if stored.payload is None else chain.digest(stored.seal, stored.payload)
        link = chain.link(link, stored.header, digest)
        if stored.link != link:
            raise _InvalidPackError(
                "fact", f"fact {found}", "header, payload, salt or link are not those that were chained", found
            )
        if stored.payload is None:
            erased.append(found)
        if lineage is not None:
            with _reporting("task", f"fact {found}"):
                lineage.add_facts([stored])
    if (found, found, link.hex()) != (manifest.through, manifest.facts, manifest.link):
        what = f"it says {manifest.facts} facts up to {manifest.link}; there are {found} up to {link.hex()}"
        raise _InvalidPackError("end", layout.MANIFEST, what)
    if layout.to_spans(erased) != manifest.erased:
        raise _InvalidPackError("manifest", layout.MANIFEST, "it names other facts as erased than those that are")
    if hashed.hexdigest() != manifest.files.get(layout.FACTS):
        raise _InvalidPackError("file", layout.FACTS, "it does not have the hash that the manifest names")
    if lineage is not None:
        _task(pack, manifest.task, lineage)


def _lines(pack: zipfile.ZipFile) -> Generator[tuple[FactLine, bytes]]:
    number = 0
    decoder = msgspec.json.Decoder(FactLine)
    with _reporting("fact", layout.FACTS), pack.open(layout.FACTS) as file:
        while True:
            with _reporting("fact", f"line {number + 1} of {layout.FACTS}"):
                raw = file.readline(_LONGEST)
                line = decoder.decode(raw) if raw else None
            if line is None:
                return
            number += 1
            yield line, raw


def _read(line: FactLine, raw: bytes, sequence: int) -> StoredBytes:
    """The fact of a line, whose every word must follow from what is chained."""
    where = f"fact {sequence}"
    with _reporting("fact", where):
        stored = StoredBytes(
            sequence=line.sequence,
            header=b64decode(line.header, validate=True),
            link=bytes.fromhex(line.link),
            seal=bytes.fromhex(line.digest if line.erased else line.salt),
            payload=None if line.erased else line.payload.encode(),
        )
        if len(stored.seal) != (chain.DIGEST_BYTES if line.erased else chain.SALT_BYTES):
            raise _InvalidPackError("fact", where, "its salt or digest has the wrong length", sequence)
        try:
            told = layout.encode_line(stored, decode_header(stored.header))
        except Refusal as refusal:
            raise _InvalidPackError("fact", where, refusal.problem.message, sequence) from refusal
    if told != raw:
        raise _InvalidPackError("fact", where, "what the line says is not what its header says", sequence)
    return stored


def _task(pack: zipfile.ZipFile, named: TaskPart | None, lineage: Lineage) -> None:
    """The facts that are named as the task's are those that are, computed anew."""
    if named is None:
        return
    if lineage.scope_of(named.task_id) is None:
        raise _InvalidPackError("task", layout.MANIFEST, f"there is no task {named.task_id} in the session")
    selection = lineage.select(named.task_id)
    for line, _ in _lines(pack):
        selection.add_fact(line.sequence, decode_header(b64decode(line.header)))
    if selection.task_part() != named:
        raise _InvalidPackError(
            "task", layout.MANIFEST, "the facts, parts or agents that it names are not those of the task"
        )


def _blobs(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    for blob in manifest.blobs:
        name = layout.BLOBS + blob.hash
        size, found = _hashed(pack, name, "blob")
        if found != blob.hash or size != blob.size:
            raise _InvalidPackError("blob", name, "its bytes are not those that its name is the SHA-256 of")


def _words(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    if _hashed(pack, layout.README, "file")[1] != manifest.files.get(layout.README):
        raise _InvalidPackError("file", layout.README, "it does not have the hash that the manifest names")
    if set(manifest.files) != {layout.FACTS, layout.README}:
        raise _InvalidPackError("manifest", layout.MANIFEST, "it names files that a pack has not")


def _hashed(pack: zipfile.ZipFile, name: str, check: Check) -> tuple[int, str]:
    found, size = hashlib.sha256(), 0
    with _reporting(check, name), pack.open(name) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
            size += len(piece)
    return size, found.hexdigest()
