"""Making a pack: facts come in pages, blobs one by one, and the zip grows in a file that the caller gives.

Nothing here waits or asks for anything; memory holds one page, one blob and what is counted on the way.
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
from callboard.contracts.facts import EvidenceExported, SessionCreated
from callboard.contracts.record import decode_header

from . import layout
from .layout import Manifest, OmittedBlob, PackedBlob
from .lineage import Selection, TaskPart

#: The largest blob that goes into a pack, and how much all of them may be together, in bytes.
LARGEST_BLOB = 16 * 1024 * 1024
LARGEST_BLOBS = 64 * 1024 * 1024
#: The largest pack, in bytes: the log keeps it as one blob.
LARGEST_PACK = 256 * 1024 * 1024
#: The most that the facts may be before they are compressed: a zip without extensions ends there.
LARGEST_FACTS = 2_000_000_000
_PIECE = 1 << 20
#: A quote inside a JSON string is escaped, so no content passes for a reference.
_REFERENCE = re.compile(rb'"hash":"([0-9a-f]{64})"(?:,"size":(\d+))?')


class PackResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished pack shows: `facts` counts those that were asked for, `link` is the chain's at `through`."""

    through: int
    facts: int
    link: bytes
    size: int


class BlobReference(msgspec.Struct, frozen=True, kw_only=True):
    """A blob that a readable fact refers to. `size` is as the fact says, 0 where it says none."""

    hash: str
    size: int
    sequence: int


class _Workspace(msgspec.Struct, rename="camel"):
    workspace_id: str = ""


class PackWriter:
    """Makes one pack of a session's facts from the first on: `facts` in order, then `blob` for each that is `wanted`, `end`."""

    def __init__(self, file: IO[bytes], session: str, made_by: str, selection: Selection | None = None) -> None:
        self._file = file
        self._session = session
        self._made_by = made_by
        self._selection = selection
        self._zip = zipfile.ZipFile(file, "w")
        self._facts: IO[bytes] | None = self._zip.open(layout.zip_member(layout.FACTS), "w")
        self._facts_hash = hashlib.sha256()
        self._workspace = ""
        self._link = chain.genesis(session)
        self._erased: list[int] = []
        self._wanted: dict[str, BlobReference] = {}
        self._earlier: set[str] = set()
        self._blobs: list[PackedBlob] = []
        self._left_out: list[OmittedBlob] = []
        self._room = LARGEST_BLOBS
        self._size = 0
        self.through = 0

    def close(self) -> None:
        """Lets go of the file, which is then no pack unless it was finished."""
        if self._facts is not None:
            self._facts.close()
        self._zip.close()

    def add_facts(self, page: Iterable[StoredBytes]) -> None:
        """The next facts. Raises Refusal `chain_broken` where they are not those that were appended."""
        if self._facts is None:
            raise ValueError("no fact comes after a blob")
        for stored in page:
            header = decode_header(stored.header)
            line = layout.encode_line(stored, header)
            self._chain(stored)
            self._size += len(line)
            if self._size > LARGEST_FACTS:
                raise _too_large(f"{layout.FACTS} would have more than {LARGEST_FACTS} bytes")
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

    def wanted_blobs(self) -> list[BlobReference]:
        """The blobs that the facts refer to, each once, in the order in which they are referred to. No fact comes any more."""
        if self._facts is not None:
            self._facts.close()
            self._facts = None
        return list(self._wanted.values())

    def accepts(self, blob: BlobReference) -> bool:
        """False where there is no room for it, or where it is an earlier pack, which holds nothing that this one has not. It is
        then left out, and the manifest says so."""
        if blob.hash in self._earlier:
            return self._leave(blob, "an earlier pack of evidence of this session")
        if blob.size > LARGEST_BLOB:
            return self._leave(blob, f"larger than {LARGEST_BLOB} bytes")
        if blob.size > self._room:
            return self._leave(blob, f"the blobs would be more than {LARGEST_BLOBS} bytes together")
        return True

    def add_blob(self, blob: BlobReference, data: bytes | None) -> None:
        """The bytes of a blob, None where the log has none of that hash. Raises Refusal `chain_broken` for other bytes."""
        if data is None:
            self._leave(blob, "no longer in the log, or never a blob")
            return
        real = msgspec.structs.replace(blob, size=len(data))
        if not self.accepts(real):
            return
        if hashlib.sha256(data).hexdigest() != blob.hash:
            raise Refusal(
                "chain_broken", f"The blob {blob.hash} holds other bytes: the log was changed outside Callboard."
            )
        self._zip.writestr(layout.zip_member(layout.BLOBS + blob.hash), data)
        self._room -= len(data)
        self._blobs.append(PackedBlob(hash=blob.hash, size=len(data), sequence=blob.sequence))

    def finish(self) -> PackResult:
        """Finishes the pack. Raises Refusal `too_large`."""
        part = None if self._selection is None else self._selection.task_part()
        words = layout.readme(
            made_by=self._made_by,
            session=self._session,
            through=self.through,
            link=self._link.hex(),
            comment=layout.COMMENT_BYTES,
            of_task=_of_task(part),
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
            files={layout.FACTS: self._facts_hash.hexdigest(), layout.README: hashlib.sha256(words).hexdigest()},
        )
        self._zip.writestr(layout.zip_member(layout.MANIFEST), layout.manifest_bytes(manifest))
        self._zip.writestr(layout.zip_member(layout.README), words)
        self._zip.comment = bytes(layout.COMMENT_BYTES)
        self._zip.close()
        return PackResult(
            through=self.through,
            facts=self.through if part is None else part.fact_count,
            link=self._link,
            size=self._seal(),
        )

    def _chain(self, stored: StoredBytes) -> None:
        digest = stored.seal if stored.payload is None else chain.digest(stored.seal, stored.payload)
        self._link = chain.link(self._link, stored.header, digest)
        self.through += 1
        if stored.sequence != self.through or stored.link != self._link:
            raise Refusal(
                "chain_broken",
                f"The fact {self._session}/{self.through} is not what was appended: the log was changed outside Callboard.",
                hint="What is not whole is not exported. Restore the store from a backup.",
            )

    def _refer(self, name: str, size: int, sequence: int, kind: str) -> None:
        if kind == EvidenceExported.type:
            self._earlier.add(name)
        self._wanted.setdefault(name, BlobReference(hash=name, size=size, sequence=sequence))

    def _leave(self, blob: BlobReference, why: str) -> bool:
        self._left_out.append(OmittedBlob(hash=blob.hash, size=blob.size, sequence=blob.sequence, why=why))
        return False

    def _seal(self) -> int:
        """Puts the hash of all bytes before the zip's comment into the comment; returns the size of the whole."""
        size = self._file.seek(0, 2)
        if size > LARGEST_PACK:
            raise _too_large(f"it would have {size} bytes")
        found, left = hashlib.sha256(), size - layout.COMMENT_BYTES
        self._file.seek(0)
        while left:
            piece = self._file.read(min(_PIECE, left))
            found.update(piece)
            left -= len(piece)
        self._file.seek(size - layout.COMMENT_BYTES)
        self._file.write(layout.COMMENT + found.hexdigest().encode())
        return size


def _too_large(why: str) -> Refusal:
    return Refusal("too_large", f"The session is too large for one pack: {why}.", hint="Nothing was exported.")


def _of_task(part: TaskPart | None) -> str:
    if part is None:
        return ""
    return (
        f"\nThis pack was requested for the task {part.task_id}. {part.fact_count} of the facts belong to the task,\n"
        "its subtasks and the agents that worked on them: manifest.json lists them. The other facts are needed\n"
        "to check the chain.\n"
    )
