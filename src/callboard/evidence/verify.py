"""Verification of an evidence pack without the log.

The result has the first finding and its location. The content is checked before the zip's checksum, so that a change is
reported by its fact and not only as damage.
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
#: The longest accepted line and the largest accepted manifest, in bytes.
_MAX_READ_BYTES = 64 * 1024 * 1024
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
    """A defect of a pack. `where` is its location, `what` the defect, `sequence` the fact's number, or 0."""

    check: Check
    where: str
    what: str
    sequence: int = 0


class Verdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a verification. Without `finding` the pack is valid.

    `pack_hash` is the SHA-256 of the whole file, as in the fact `evidence.exported`. With a finding, the other fields are
    unverified claims of the manifest, or empty if the manifest could not be read.
    """

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
    """Verify the pack in a seekable file.

    Args:
        link: The expected last link in hex, from another source. Empty to skip the comparison.
    """
    pack_hash, is_intact = _hash_file(file)
    manifest: Manifest | None = None
    finding: Finding | None = None
    try:
        with _report_errors("pack", "the zip"), zipfile.ZipFile(file) as pack:
            manifest = _read_manifest(pack)
            _check_members(pack, manifest)
            _check_facts(pack, manifest)
            _check_blobs(pack, manifest)
            _check_readme(pack, manifest)
        if not is_intact:
            raise _InvalidPackError("checksum", "the zip's comment", "not the SHA-256 of the bytes before it")
        if link and link.lower() != manifest.link:
            raise _InvalidPackError(
                "expected", f"fact {manifest.through}", f"the last link is {manifest.link}, not the expected one"
            )
    except _InvalidPackError as error:
        finding = error.finding
    verdict = Verdict(ok=finding is None, finding=finding, pack_hash=pack_hash)
    if manifest is None:
        return verdict
    return msgspec.structs.replace(
        verdict,
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
def _report_errors(check: Check, where: str) -> Generator[None]:
    """Report an error of the block as a finding."""
    try:
        yield
    except _BROKEN as error:
        raise _InvalidPackError(check, where, f"cannot be read: {error}") from error


def _hash_file(file: IO[bytes]) -> tuple[str, bool]:
    """Return the hash of the file, and whether its comment is the hash of the bytes before it."""
    size = file.seek(0, 2)
    content, remaining = hashlib.sha256(), max(0, size - layout.COMMENT_BYTES)
    file.seek(0)
    while remaining:
        piece = file.read(min(_PIECE, remaining))
        content.update(piece)
        remaining -= len(piece)
    comment = file.read()
    whole = content.copy()
    whole.update(comment)
    return whole.hexdigest(), comment == layout.COMMENT + content.hexdigest().encode()


def _read_manifest(pack: zipfile.ZipFile) -> Manifest:
    with _report_errors("manifest", layout.MANIFEST), pack.open(layout.MANIFEST) as file:
        data = file.read(_MAX_READ_BYTES)
        manifest = msgspec.json.decode(data, type=Manifest)
    if manifest.format != layout.FORMAT or manifest.format_version != layout.FORMAT_VERSION:
        message = f"unsupported format {manifest.format[:40]} {manifest.format_version}"
        raise _InvalidPackError("manifest", layout.MANIFEST, message)
    if layout.encode_manifest(manifest) != data:
        raise _InvalidPackError("manifest", layout.MANIFEST, "not encoded like a pack's manifest")
    if manifest.hash != "SHA-256" or manifest.how != layout.COMPUTATIONS:
        raise _InvalidPackError("manifest", layout.MANIFEST, "describes a different computation of links")
    return manifest


def _check_members(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    blobs = [layout.BLOBS + blob.hash for blob in manifest.blobs]
    expected = [layout.FACTS, *blobs, layout.MANIFEST, layout.README]
    for number, (name, expected_name) in enumerate(zip(pack.namelist(), expected, strict=False), start=1):
        if name != expected_name:
            raise _InvalidPackError("pack", name[:100], f"file {number} of the zip should be {expected_name}")
    if len(pack.namelist()) != len(expected):
        raise _InvalidPackError(
            "pack", "the zip", f"has {len(pack.namelist())} files, but the manifest names {len(expected)}"
        )


def _check_facts(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    count, link, erased = 0, chain.begin_chain(manifest.session_id), list[int]()
    content = hashlib.sha256()
    lineage = None if manifest.task is None else Lineage()
    for line, raw in _read_lines(pack):
        count += 1
        content.update(raw)
        if line.sequence != count:
            raise _InvalidPackError(
                "fact", f"fact {count}", f"the sequence has a gap: the line has {line.sequence}", count
            )
        stored = _decode_line(line, raw, count)
        digest = stored.seal if stored.payload is None else chain.digest(stored.seal, stored.payload)
        link = chain.link(link, stored.header, digest)
        if stored.link != link:
            raise _InvalidPackError(
                "fact", f"fact {count}", "header, payload, salt or link differ from the chained ones", count
            )
        if stored.payload is None:
            erased.append(count)
        if lineage is not None:
            with _report_errors("task", f"fact {count}"):
                lineage.add_facts([stored])
    if (count, count, link.hex()) != (manifest.through, manifest.facts, manifest.link):
        message = f"claims {manifest.facts} facts up to {manifest.link}, but there are {count} up to {link.hex()}"
        raise _InvalidPackError("end", layout.MANIFEST, message)
    if layout.to_spans(erased) != manifest.erased:
        raise _InvalidPackError("manifest", layout.MANIFEST, "the listed erased facts are not the erased ones")
    if content.hexdigest() != manifest.files.get(layout.FACTS):
        raise _InvalidPackError("file", layout.FACTS, "its hash differs from the manifest")
    if lineage is not None:
        _check_task(pack, manifest.task, lineage)


def _read_lines(pack: zipfile.ZipFile) -> Generator[tuple[FactLine, bytes]]:
    number = 0
    decoder = msgspec.json.Decoder(FactLine)
    with _report_errors("fact", layout.FACTS), pack.open(layout.FACTS) as file:
        while True:
            with _report_errors("fact", f"line {number + 1} of {layout.FACTS}"):
                raw = file.readline(_MAX_READ_BYTES)
                line = decoder.decode(raw) if raw else None
            if line is None:
                return
            number += 1
            yield line, raw


def _decode_line(line: FactLine, raw: bytes, sequence: int) -> StoredBytes:
    """Return the fact of a line, after checking that the chained bytes result in exactly this line."""
    where = f"fact {sequence}"
    with _report_errors("fact", where):
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
            expected = layout.encode_line(stored, decode_header(stored.header))
        except Refusal as refusal:
            raise _InvalidPackError("fact", where, refusal.problem.message, sequence) from refusal
    if expected != raw:
        raise _InvalidPackError("fact", where, "the line differs from its header", sequence)
    return stored


def _check_task(pack: zipfile.ZipFile, claimed: TaskPart | None, lineage: Lineage) -> None:
    """Select the facts of the task again, and compare them with the claimed ones."""
    if claimed is None:
        return
    if lineage.find_scope(claimed.task_id) is None:
        raise _InvalidPackError("task", layout.MANIFEST, f"there is no task {claimed.task_id} in the session")
    selection = lineage.select(claimed.task_id)
    for line, _ in _read_lines(pack):
        selection.add_fact(line.sequence, decode_header(b64decode(line.header)))
    if selection.build_task_part() != claimed:
        raise _InvalidPackError(
            "task", layout.MANIFEST, "the listed facts, subtasks or agents are not those of the task"
        )


def _check_blobs(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    for blob in manifest.blobs:
        name = layout.BLOBS + blob.hash
        size, hash = _hash_member(pack, name, "blob")
        if hash != blob.hash or size != blob.size:
            raise _InvalidPackError("blob", name, "its name is not the SHA-256 of its bytes")


def _check_readme(pack: zipfile.ZipFile, manifest: Manifest) -> None:
    if _hash_member(pack, layout.README, "file")[1] != manifest.files.get(layout.README):
        raise _InvalidPackError("file", layout.README, "its hash differs from the manifest")
    if set(manifest.files) != {layout.FACTS, layout.README}:
        raise _InvalidPackError("manifest", layout.MANIFEST, "names files that are not part of a pack")


def _hash_member(pack: zipfile.ZipFile, name: str, check: Check) -> tuple[int, str]:
    content, size = hashlib.sha256(), 0
    with _report_errors(check, name), pack.open(name) as file:
        while piece := file.read(_PIECE):
            content.update(piece)
            size += len(piece)
    return size, content.hexdigest()
