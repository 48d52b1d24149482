"""Writing of an evidence pack into a file of the caller.

The caller adds facts in pages and blobs one by one; memory holds one page and one blob. No function here waits or does other
I/O.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterable
from typing import IO

import msgspec

from callboard.contracts import chain
from callboard.contracts.chain import StoredBytes
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.record import decode_header

from . import layout
from .layout import Manifest, OmittedBlob, PackedBlob
from .lineage import Selection, TaskPart

#: The largest blob in a pack, in bytes.
MAX_BLOB_BYTES = 16 * 1024 * 1024
#: The largest sum of all blobs in a pack, in bytes.
MAX_BLOBS_BYTES = 64 * 1024 * 1024
#: The largest pack, in bytes. The log stores it as one blob.
MAX_PACK_BYTES = 256 * 1024 * 1024
#: The largest size of the uncompressed facts, in bytes: the limit of a zip without extensions.
MAX_FACTS_BYTES = 2_000_000_000
_PIECE = 1 << 20
#: Quotes inside a JSON string are escaped, so no content can look like a reference.
_REFERENCE = re.compile(rb'"hash":"([0-9a-f]{64})"(?:,"size":(\d+))?')


class PackResult(msgspec.Struct, frozen=True, kw_only=True):
    """A finished pack. `facts` is the number of selected facts, `link` the link of the fact `through`, `size` is in bytes."""

    through: int
    facts: int
    link: bytes
    size: int


class BlobReference(msgspec.Struct, frozen=True, kw_only=True):
    """A blob that a readable fact refers to. `size` is the fact's value, or 0."""

    hash: str
    size: int
    sequence: int


class _Workspace(msgspec.Struct, rename="camel"):
    workspace_id: str = ""


class PackWriter:
    """Write one pack of a session's facts.

    Call `add_facts` with all facts in order, then `finish_facts`. Call `add_blob` for each blob that
    it returns, then `finish`.

    Args:
        made_by: Product and version, for the manifest.
        selection: Collects the facts of a task. Without it the pack is about the whole session.
    """

    def __init__(self, file: IO[bytes], session: str, made_by: str, selection: Selection | None = None) -> None:
        self._file = file
        self._session = session
        self._made_by = made_by
        self._selection = selection
        self._zip = zipfile.ZipFile(file, "w")
        self._facts: IO[bytes] | None = self._zip.open(layout.build_zip_member(layout.FACTS), "w")
        self._facts_hash = hashlib.sha256()
        self._workspace = ""
        self._link = chain.begin_chain(session)
        self._erased: list[int] = []
        self._wanted: dict[str, BlobReference] = {}
        self._earlier: set[str] = set()
        self._blobs: list[PackedBlob] = []
        self._left_out: list[OmittedBlob] = []
        self._remaining_bytes = MAX_BLOBS_BYTES
        self._size = 0
        self.through = 0

    def close(self) -> None:
        """Close the zip. The file is a valid pack only after `finish`."""
        if self._facts is not None:
            self._facts.close()
        self._zip.close()

    def add_facts(self, page: Iterable[StoredBytes]) -> None:
        """Add the next facts. Raises Refusal `chain_broken` if they differ from the appended facts."""
        if self._facts is None:
            raise ValueError("facts must be added before blobs")
        for stored in page:
            header = decode_header(stored.header)
            line = layout.encode_line(stored, header)
            self._extend_chain(stored)
            self._size += len(line)
            if self._size > MAX_FACTS_BYTES:
                raise _build_size_refusal(f"{layout.FACTS} would have more than {MAX_FACTS_BYTES} bytes")
            self._facts.write(line)
            self._facts_hash.update(line)
            if self._selection is not None:
                self._selection.add_fact(stored.sequence, header)
            if stored.payload is None:
                self._erased.append(stored.sequence)
                continue
            if header.type == SessionCreated.type:
                self._workspace = msgspec.json.decode(stored.payload, type=_Workspace).workspace_id
            for name, size in _REFERENCE.findall(stored.payload):
                self._refer(name.decode(), int(size or 0), stored.sequence, header.type)

    def finish_facts(self) -> list[BlobReference]:
        """End the facts. Return the blobs that they refer to, each once, in the order of the
        references."""
        if self._facts is not None:
            self._facts.close()
            self._facts = None
        return list(self._wanted.values())

    def accept_blob(self, blob: BlobReference) -> bool:
        """Return True if the pack includes a blob; otherwise list it as omitted in the manifest.

        Blobs above a size limit are omitted, and earlier packs too, because this pack has all their facts.
        """
        if blob.hash in self._earlier:
            return self._omit(blob, "an earlier evidence pack of this session")
        if blob.size > MAX_BLOB_BYTES:
            return self._omit(blob, f"larger than {MAX_BLOB_BYTES} bytes")
        if blob.size > self._remaining_bytes:
            return self._omit(blob, f"all blobs together would be larger than {MAX_BLOBS_BYTES} bytes")
        return True

    def add_blob(self, blob: BlobReference, data: bytes | None) -> None:
        """Add the bytes of a blob; None if the log does not have it. Raises Refusal `chain_broken` if the hash differs."""
        if data is None:
            self._omit(blob, "no longer in the log, or not a blob")
            return
        if not self.accept_blob(msgspec.structs.replace(blob, size=len(data))):
            return
        if hashlib.sha256(data).hexdigest() != blob.hash:
            raise Refusal(
                "chain_broken",
                f"The blob {blob.hash} has different bytes: the log was changed outside Callboard.",
                hint="Nothing was exported. Restore the store from a backup.",
            )
        self._zip.writestr(layout.build_zip_member(layout.BLOBS + blob.hash), data)
        self._remaining_bytes -= len(data)
        self._blobs.append(PackedBlob(hash=blob.hash, size=len(data), sequence=blob.sequence))

    def finish(self) -> PackResult:
        """Write the README, the manifest and the checksum. Raises Refusal `too_large`."""
        part = None if self._selection is None else self._selection.build_task_part()
        readme = layout.format_readme(
            made_by=self._made_by,
            session=self._session,
            through=self.through,
            link=self._link.hex(),
            comment=layout.COMMENT_BYTES,
            of_task=_format_task_paragraph(part),
        )
        manifest = Manifest(
            format=layout.FORMAT,
            format_version=layout.FORMAT_VERSION,
            made_by=self._made_by,
            session_id=self._session,
            workspace_id=self._workspace,
            through=self.through,
            facts=self.through,
            link=self._link.hex(),
            hash="SHA-256",
            how=layout.COMPUTATIONS,
            erased=layout.to_spans(self._erased),
            task=part,
            blobs=tuple(self._blobs),
            left_out=tuple(self._left_out),
            files={layout.FACTS: self._facts_hash.hexdigest(), layout.README: hashlib.sha256(readme).hexdigest()},
        )
        self._zip.writestr(layout.build_zip_member(layout.MANIFEST), layout.encode_manifest(manifest))
        self._zip.writestr(layout.build_zip_member(layout.README), readme)
        self._zip.comment = bytes(layout.COMMENT_BYTES)
        self._zip.close()
        return PackResult(
            through=self.through,
            facts=self.through if part is None else part.fact_count,
            link=self._link,
            size=self._seal(),
        )

    def _extend_chain(self, stored: StoredBytes) -> None:
        digest = stored.seal if stored.payload is None else chain.digest(stored.seal, stored.payload)
        self._link = chain.link(self._link, stored.header, digest)
        self.through += 1
        if stored.sequence != self.through or stored.link != self._link:
            raise Refusal(
                "chain_broken",
                f"Fact {self._session}/{self.through} differs from the appended one: the log was changed outside Callboard.",
                hint="Nothing was exported. Restore the store from a backup.",
            )

    def _refer(self, name: str, size: int, sequence: int, kind: str) -> None:
        if kind == EvidenceExported.type:
            self._earlier.add(name)
        self._wanted.setdefault(name, BlobReference(hash=name, size=size, sequence=sequence))

    def _omit(self, blob: BlobReference, reason: str) -> bool:
        self._left_out.append(OmittedBlob(hash=blob.hash, size=blob.size, sequence=blob.sequence, why=reason))
        return False

    def _seal(self) -> int:
        """Write the hash of all bytes before the zip's comment into the comment. Return the size of the file."""
        size = self._file.seek(0, 2)
        if size > MAX_PACK_BYTES:
            raise _build_size_refusal(f"the pack would have {size} bytes")
        checksum, remaining = hashlib.sha256(), size - layout.COMMENT_BYTES
        self._file.seek(0)
        while remaining:
            piece = self._file.read(min(_PIECE, remaining))
            checksum.update(piece)
            remaining -= len(piece)
        self._file.seek(size - layout.COMMENT_BYTES)
        self._file.write(layout.COMMENT + checksum.hexdigest().encode())
        return size


def _build_size_refusal(reason: str) -> Refusal:
    return Refusal("too_large", f"The session is too large for one pack: {reason}.", hint="Nothing was exported.")


def _format_task_paragraph(part: TaskPart | None) -> str:
    if part is None:
        return ""
    return (
        f"\nThis pack was requested for the task {part.task_id}. {part.fact_count} of the facts belong to the task,\n"
        "its subtasks and the agents that worked on them: manifest.json lists them. The other facts are needed\n"
        "to check the chain.\n"
    )
