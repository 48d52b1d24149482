"""A batch on its way into a stream: what every backend checks, seals and remembers in the same way. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from ..contracts.errors import Refusal
from ..contracts.facts import EvidenceExported, Fact
from ..contracts.ports.store import Append, Head
from ..contracts.record import (
    Header,
    Record,
    as_decoded,
    decode_header,
    decode_payload,
    encode_header,
    encode_payload,
    header_of,
)
from . import chain
from .chain import StoredBytes

_REFERENCE = re.compile(rb'"hash":"([0-9a-f]{64})"')


#: One fact, encoded: the fact, its header, the header's bytes, the payload, the salt and the digest. Header and bytes hold if
#: the batch's time is not before the stream's newest. A plain tuple, like `Line`, because there is one for every fact.
DraftedBatch = tuple[Fact, Header, bytes, bytes, bytes, bytes]
#: One fact as it is stored: the stream's number, the sequence, and the header, link, seal and payload of `chain.Stored`.
Line = tuple[int, int, bytes, bytes, bytes, bytes | None]


class Draft(NamedTuple):
    """What can be made of a batch before its place in the stream is known.

    `names` are the hashes of the blobs that the facts refer to, each with the fact's index in the batch.
    """

    facts: list[DraftedBatch]
    names: list[tuple[int, str]]


class SealedBatch(NamedTuple):
    """The batch in its place: what is stored, what its author gets back, and where the stream then ends."""

    lines: list[Line]
    records: tuple[Record, ...]
    head: Head


def draft(batch: Append, salts: bytes) -> Draft:
    """Encodes the facts. `salts` are fresh random bytes, 16 for each fact."""
    facts: list[DraftedBatch] = []
    names: list[tuple[int, str]] = []
    origin, epoch, at = batch.origin, batch.epoch, 0
    for index, new in enumerate(batch.facts):
        header = header_of(new, origin, epoch)
        payload = encode_payload(new.fact)
        salt = salts[at : at + chain.SALT_BYTES]
        at += chain.SALT_BYTES
        facts.append(
            (as_decoded(new.fact, payload), header, encode_header(header), payload, salt, chain.digest(salt, payload))
        )
        if b'"hash":"' in payload:
            names += [(index, name) for name in blobs_named_by(payload)]
    return Draft(facts, names)


def check_place(batch: Append, head: Head, epoch: int) -> None:
    """Refuses a batch whose author lost the lease (`fenced`) or has not seen the end of the stream (`conflict`)."""
    if batch.epoch != epoch:
        raise fenced(batch.stream, batch.epoch, epoch)
    if batch.expected != head.sequence:
        raise Refusal(
            "conflict",
            f"The stream {batch.stream} is at {head.sequence}, not at {batch.expected}.",
            hint="Read the newer facts and decide again.",
        )


def fenced(stream: str, epoch: int, now: int) -> Refusal:
    """The refusal of a writer whose epoch is over."""
    return Refusal(
        "fenced",
        f"The stream {stream} is held under epoch {now}; epoch {epoch} may not write to it.",
        hint="Another process took the store over. Stop here and work through that process.",
    )


def key_taken(key: str) -> Refusal:
    """The refusal of an answer under a key that has one."""
    return Refusal(
        "idempotency_conflict",
        f"The key {key} already has an answer.",
        field="idempotencyKey",
        hint="Repeat the same command to get that answer, or send the new command with a new key.",
    )


def no_such_fact(stream: str, sequence: int) -> Refusal:
    """The refusal of a sequence that the stream does not have."""
    return Refusal("invalid_input", f"The stream {stream} has no fact {sequence}.", field="sequence")


def nothing(stream: str) -> Head:
    """The end of a stream that has no fact."""
    return Head(sequence=0, link=chain.genesis(stream))


def seal(batch: Append, made: Draft, head: Head, number: int = 0) -> SealedBatch:
    """Puts the batch after `head`, into the stream that the backend knows by `number`.

    A time before the stream's newest is raised to it, so time never goes back.
    """
    stream, sequence, previous = batch.stream, head.sequence, head.link
    at = max(batch.origin.at, head.at)
    lines: list[Line] = []
    records: list[Record] = []
    for fact, header, data, payload, salt, payload_digest in made.facts:
        if header.at != at:
            header = msgspec.structs.replace(header, at=at)
            data = encode_header(header)
        sequence += 1
        previous = chain.link(previous, data, payload_digest)
        lines.append((number, sequence, data, previous, salt, payload))
        records.append(Record(stream, sequence, header, previous, fact, payload))
    if lines:
        head = Head(sequence=sequence, link=previous, at=at)
    return SealedBatch(lines, tuple(records), head)


def record_of(stream: str, stored: StoredBytes) -> Record:
    """The record of stored bytes. Raises Refusal `chain_broken` where they cannot be read."""
    header = decode_header(stored.header)
    return Record(
        stream,
        stored.sequence,
        header,
        stored.link,
        decode_payload(header.type, stored.payload, header.version),
        stored.payload,
    )


def shows(header: bytes, payload: bytes | None, sequence: int) -> bool:
    """True of a fact that names a pack of evidence which shows the fact at that sequence."""
    if payload is None or (of := decode_header(header)).type != EvidenceExported.type:
        return False
    fact = decode_payload(EvidenceExported.type, payload, of.version)
    return isinstance(fact, EvidenceExported) and fact.through >= sequence


def blobs_named_by(payload: bytes) -> set[str]:
    """The hashes of the blobs that an encoded payload refers to, of unknown facts too.

    A quote inside a JSON string is escaped, so no content can pass for a reference.
    """
    return {found.decode() for found in _REFERENCE.findall(payload)}
