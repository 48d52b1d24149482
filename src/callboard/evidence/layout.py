"""What a pack looks like: a zip of plain files, so that whoever gets it opens it with what is on every machine. Pure.

    facts.jsonl       one fact a line, in order, with the very bytes that were chained
    blobs/<SHA-256>   what readable facts refer to, each under the hash of its bytes
    manifest.json     what the pack claims, and the hashes of the other files
    README.txt        what this is and how to check it, in plain words

JSON lines and not the stored MessagePack, because an auditor has `jq` and no decoder of ours; the header's bytes go along in
Base64, since the chain is over bytes. The files have no times and a fixed order, so the same facts make the same pack (with the
same version and the same zlib). The zip's comment is the SHA-256 of every byte before it: it says of damage that there is some,
also where a zip program looks away.
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
from callboard.contracts.times import timestamp

from .lineage import TaskPart

FORMAT = "callboard.evidence"
FORMAT_VERSION = 1
MEDIA = "application/vnd.callboard.evidence+zip"
FACTS, MANIFEST, README, BLOBS = "facts.jsonl", "manifest.json", "README.txt", "blobs/"
#: The comment of the zip: this and 64 hex digits.
COMMENT = b"sha256:"
COMMENT_BYTES = len(COMMENT) + 64

COMPUTATIONS = {
    "genesis": f"SHA-256 of the ASCII text {TAG.decode()} followed at once by the sessionId",
    "digest": "SHA-256 of the salt followed by the payload's bytes (UTF-8); of an erased fact the digest is given instead",
    "link": "SHA-256 of the link before (of fact 1: the genesis), the header's bytes and the digest, one after the other",
}


class FactLine(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """One fact. `header` is Base64, `salt`, `digest` and `link` are hex, `payload` is the stored text. What stands before
    `header` is read out of the header's bytes for the reader's sake. Of an erased fact `digest` is there, not salt and payload.
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
    """A blob in the pack. `sequence` is the first fact that refers to it."""

    hash: str
    size: int
    sequence: int


class OmittedBlob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A blob that a readable fact refers to and the pack has not. `size` is as the fact says, 0 where it says none."""

    hash: str
    size: int
    sequence: int
    why: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What the pack claims. `erased` are spans of sequences, both ends included; `files` the SHA-256 of the files that are not
    blobs, in hex."""

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
    """The line of a fact, with its end. Raises Refusal `chain_broken` for one that no Callboard wrote: a payload that is no
    text, a time out of range."""
    try:
        payload = "" if stored.payload is None else stored.payload.decode()
        time = timestamp(header.at)
    except (UnicodeDecodeError, OverflowError) as error:
        raise Refusal("chain_broken", f"The fact {stored.sequence} cannot be read: {error}") from error
    line = FactLine(
        sequence=stored.sequence,
        type=header.type,
        time=time,
        epoch=header.epoch,
        version=header.version,
        command_id=header.command_id,
        actor=header.actor,
        cause=header.cause,
        ids=_ids(header),
        header=b64encode(stored.header).decode(),
        salt="" if stored.payload is None else stored.seal.hex(),
        digest=stored.seal.hex() if stored.payload is None else "",
        erased=stored.payload is None,
        payload=payload,
        link=stored.link.hex(),
    )
    return _lines.encode(line) + b"\n"


def _ids(header: Header) -> dict[str, str | int]:
    """The scope under its names on the wire, without what it does not have."""
    found: dict[str, str | int] = {}
    for name in header.scope.__struct_fields__:
        value: str | int = getattr(header.scope, name)
        if value:
            first, *rest = name.split("_")
            camel = first + "".join(word.title() for word in rest)
            found[camel if isinstance(value, int) else f"{camel}Id"] = value
    return found


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as it stands in the pack."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def zip_member(name: str) -> zipfile.ZipInfo:
    """A file of the zip, the same whenever and wherever it is made."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o100644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def to_spans(sequences: list[int]) -> tuple[tuple[int, int], ...]:
    """Rising sequences as spans."""
    found: list[tuple[int, int]] = []
    for sequence in sequences:
        first = found.pop()[0] if found and found[-1][1] == sequence - 1 else sequence
        found.append((first, sequence))
    return tuple(found)


def readme(**told: Any) -> bytes:
    """The words that go with a pack."""
    return _README.format(**told).encode()


_README = """\
EVIDENCE OF A SESSION OF AI AGENTS

This pack was made by {made_by}. It shows the facts 1 to {through} of the session {session}:
what was asked, what the agents said and did, what was allowed and refused, and by whom.
{of_task}
What is in it

  facts.jsonl      one fact a line, in the order in which they happened
  blobs/           longer texts and files that facts refer to, each named by the SHA-256 of its bytes
  manifest.json    what this pack claims: the last fact and its link, what was erased, what was left out
  README.txt       this

A line of facts.jsonl has the sequence, the type, the time (UTC) and the ids of what the fact is about; then `payload`, what
was recorded, as JSON text; and `header`, `salt` and `link`, which tie it to the fact before it. An erased fact keeps its
header; of its payload only the `digest` is left.

How to check it, with or without the product that made it

  With it:     callboard verify PACK
  Without it:  any language that has SHA-256 will do.

  genesis = SHA-256("callboard.chain.v1" + sessionId)
  digest  = SHA-256(salt + payload)            salt from hex, payload as UTF-8; of an erased fact, digest as it stands
  link    = SHA-256(link before + header + digest)     the link before fact 1 is the genesis; header from Base64

  1. Sequences count from 1 without a gap, and every computed link is the one in its line.
  2. The last link and the number of facts are those in manifest.json.
  3. Each file in blobs/ has the hash that is its name; facts.jsonl and this file have those in manifest.json.
  4. The last {comment} characters of the zip itself (its comment) are "sha256:" and the SHA-256 of every byte before them:
     head -c -{comment} PACK | sha256sum

What it proves

The facts are those that were chained, whole and in this order, up to the last one: none was changed, added, dropped or moved
without every link after it changing too. To be sure that nobody made a whole new chain, compare the last link with one that
you were told another way or keep from before: {link}
It does not prove that what an agent said is true, nor what happened where nothing was recorded.
"""
