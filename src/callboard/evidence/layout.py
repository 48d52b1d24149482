"""Layout of an evidence pack: a zip of plain files that opens on every machine. Pure.

    facts.jsonl       one fact per line, in order, with the bytes of the hash chain
    blobs/<SHA-256>   content that readable facts refer to, named by the hash of its bytes
    manifest.json     the claims of the pack, and the hashes of the other files
    README.txt        explanation and instructions for verification

Facts are JSON lines because an auditor has `jq`, but no decoder of the stored MessagePack. The chain covers bytes, so each
line has the header's bytes in Base64. Files have no times and a fixed order: the same facts result in the same pack, given the
same version and the same zlib. The zip's comment is the SHA-256 of all bytes before it. It reveals damage that zip programs
ignore.
"""

from __future__ import annotations

import zipfile
from base64 import b64encode
from typing import Any

import msgspec

from callboard.contracts.chain import TAG, StoredBytes
from callboard.contracts.errors import Refusal
from callboard.contracts.record import Header
from callboard.contracts.scope import Actor
from callboard.contracts.times import format_timestamp

from .lineage import TaskPart

FORMAT = "callboard.evidence"
FORMAT_VERSION = 1
MEDIA = "application/vnd.callboard.evidence+zip"
FACTS, MANIFEST, README, BLOBS = "facts.jsonl", "manifest.json", "README.txt", "blobs/"
#: The zip's comment is this text and 64 hex digits.
COMMENT = b"sha256:"
COMMENT_BYTES = len(COMMENT) + 64

#: How the manifest describes the hash chain. Verification compares it, so changed texts need a new `FORMAT_VERSION`.
COMPUTATIONS = {
    "genesis": f"SHA-256 of the ASCII text {TAG.decode()} followed directly by the sessionId",
    "digest": "SHA-256 of the salt followed by the payload's bytes (UTF-8); of an erased fact the digest is given instead",
    "link": "SHA-256 of the link before (of fact 1: the genesis), the header's bytes and the digest, one after the other",
}


class FactLine(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A fact as a line of `facts.jsonl`.

    `header` is Base64; `salt`, `digest` and `link` are hex; `payload` is the stored text. The fields before `header` repeat
    the header in readable form. An erased fact has `digest` in place of salt and payload.
    """

    sequence: int
    type: str
    time: str
    epoch: int
    version: int = 1
    command_id: str = ""
    actor: Actor | None = None
    cause: str = ""
    ids: dict[str, str | int]
    header: str
    salt: str = ""
    digest: str = ""
    erased: bool = False
    payload: str = ""
    link: str


class PackedBlob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A blob in the pack. `sequence` is the first fact that refers to the blob."""

    hash: str
    size: int
    sequence: int


class OmittedBlob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A blob that a readable fact refers to but the pack omits. `size` is the fact's value, or 0."""

    hash: str
    size: int
    sequence: int
    why: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The claims of a pack.

    Attributes:
        erased: Spans of sequences of erased facts, both ends included.
        files: SHA-256 of the facts and the README, in hex.
    """

    format: str
    format_version: int
    made_by: str
    session_id: str
    workspace_id: str
    through: int
    facts: int
    link: str
    hash: str
    how: dict[str, str]
    erased: tuple[tuple[int, int], ...]
    task: TaskPart | None
    blobs: tuple[PackedBlob, ...]
    left_out: tuple[OmittedBlob, ...]
    files: dict[str, str]


_lines = msgspec.json.Encoder()


def encode_line(stored: StoredBytes, header: Header) -> bytes:
    """Encode a fact as a line with its line end.

    Raises:
        Refusal: `chain_broken` if the payload is not text or the time is out of range.
    """
    try:
        payload = "" if stored.payload is None else stored.payload.decode()
        time = format_timestamp(header.at)
    except (UnicodeDecodeError, OverflowError) as error:
        raise Refusal(
            "chain_broken",
            f"Cannot read fact {stored.sequence}: {error}",
            hint="`callboard check` lists all damage. Restore the store from a backup.",
        ) from error
    line = FactLine(
        sequence=stored.sequence,
        type=header.type,
        time=time,
        epoch=header.epoch,
        version=header.version,
        command_id=header.command_id,
        actor=header.actor,
        cause=header.cause,
        ids=_collect_ids(header),
        header=b64encode(stored.header).decode(),
        salt="" if stored.payload is None else stored.seal.hex(),
        digest=stored.seal.hex() if stored.payload is None else "",
        erased=stored.payload is None,
        payload=payload,
        link=stored.link.hex(),
    )
    return _lines.encode(line) + b"\n"


def _collect_ids(header: Header) -> dict[str, str | int]:
    """Return the ids of the scope by their names on the wire, without empty ones."""
    ids: dict[str, str | int] = {}
    for name in header.scope.__struct_fields__:
        value: str | int = getattr(header.scope, name)
        if value:
            first, *rest = name.split("_")
            camel = first + "".join(word.title() for word in rest)
            ids[camel if isinstance(value, int) else f"{camel}Id"] = value
    return ids


def encode_manifest(manifest: Manifest) -> bytes:
    """Encode the manifest as in the pack."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def build_zip_member(name: str) -> zipfile.ZipInfo:
    """Return the entry of a zip file, equal on every machine and at any time."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o100644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def to_spans(sequences: list[int]) -> tuple[tuple[int, int], ...]:
    """Combine ascending sequences to spans, both ends included."""
    spans: list[tuple[int, int]] = []
    for sequence in sequences:
        first = spans.pop()[0] if spans and spans[-1][1] == sequence - 1 else sequence
        spans.append((first, sequence))
    return tuple(spans)


def format_readme(**values: Any) -> bytes:
    """Return the README of a pack."""
    return _README.format(**values).encode()


_README = """\
EVIDENCE OF A SESSION OF AI AGENTS

{made_by} made this pack. It contains the facts 1 to {through} of the session {session}:
the prompts, the messages and actions of the agents, and every approval and rejection with its author.
{of_task}
Contents

  facts.jsonl      one fact per line, in the order of recording
  blobs/           long texts and files that facts refer to, each named by the SHA-256 of its bytes
  manifest.json    the claims of this pack: the last fact and its link, erased facts, omitted blobs
  README.txt       this file

A line of facts.jsonl has the sequence, the type, the time (UTC) and the ids of the fact. `payload` is the recorded content
as JSON text. `header`, `salt` and `link` connect the fact to the fact before it. An erased fact keeps its header; its payload
is gone, and only the `digest` remains.

How to verify this pack

  With Callboard:     callboard verify PACK
  Without Callboard:  use any language with SHA-256.

  genesis = SHA-256("callboard.chain.v1" + sessionId)
  digest  = SHA-256(salt + payload)                salt from hex, payload as UTF-8; an erased fact has its digest in the line
  link    = SHA-256(previous link + header + digest)     header from Base64; the previous link of fact 1 is the genesis

  1. Check that sequences count from 1 without a gap, and that every computed link equals the link in its line.
  2. Check that manifest.json has the last link and the number of facts.
  3. Check that each file in blobs/ has the hash in its name, and facts.jsonl and this file those in manifest.json.
  4. Check that the last {comment} characters of the zip (its comment) are "sha256:" and the SHA-256 of all bytes before them:
     head -c -{comment} PACK | sha256sum

What this pack proves

The facts are complete and in the recorded order, up to the last one. Changing, adding, removing or moving a fact would change
every later link. A pack alone cannot reveal a chain that was rebuilt as a whole. To exclude that, compare the last link with
a copy from another source: {link}
This pack does not prove that an agent's statements are true. It does not show events that were not recorded.
"""
