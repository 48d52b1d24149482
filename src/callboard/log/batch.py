"""Validation, encoding and sealing of a batch, the same for every backend. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from ..contracts.errors import Refusal
from ..contracts.facts.base import Fact
from ..contracts.facts.evidence import EvidenceExported
from ..contracts.ports.store import Append, Head
from ..contracts.record import (
    Header,
    Record,
    build_header,
    decode_header,
    decode_payload,
    encode_header,
    encode_payload,
    normalise_floats,
)
from . import chain
from .chain import StoredBytes

_REFERENCE = re.compile(rb'"hash":"([0-9a-f]{64})"')


#: An encoded fact: the fact, its header, the header's bytes, the payload, the salt and the digest. The header is final unless
#: the batch is older than the stream's newest fact. A plain tuple, like `Line`, because there is one for every fact.
DraftedFact = tuple[Fact, Header, bytes, bytes, bytes, bytes]
#: A stored fact: the stream's number, the sequence, and header, link, seal and payload as in `StoredBytes`.
Line = tuple[int, int, bytes, bytes, bytes, bytes | None]


class Draft(NamedTuple):
    """A batch, encoded before its position in the stream is known.

    `names` are the hashes of the blobs that the facts refer to, each with the index of its fact in the batch.
    """

    facts: list[DraftedFact]
    references: list[tuple[int, str]]


class SealedBatch(NamedTuple):
    """A sealed batch: the stored lines, the records for its author, and the new head of the stream."""

    lines: list[Line]
    records: tuple[Record, ...]
    head: Head


def build_draft(batch: Append, salts: bytes) -> Draft:
    """Encode the facts. `salts` are new random bytes, 16 for each fact."""
    facts: list[DraftedFact] = []
    names: list[tuple[int, str]] = []
    origin, epoch, at = batch.origin, batch.epoch, 0
    for index, new in enumerate(batch.facts):
        header = build_header(new, origin, epoch)
        payload = encode_payload(new.fact)
        salt = salts[at : at + chain.SALT_BYTES]
        at += chain.SALT_BYTES
        facts.append(
            (
                normalise_floats(new.fact, payload),
                header,
                encode_header(header),
                payload,
                salt,
                chain.digest(salt, payload),
            )
        )
        if b'"hash":"' in payload:
            names += [(index, name) for name in find_blob_hashes(payload)]
    return Draft(facts, names)


def check_head(batch: Append, head: Head, epoch: int) -> None:
    """Refuse a batch whose author lost the lease (`fenced`) or does not know the newest fact (`conflict`)."""
    if batch.epoch != epoch:
        raise build_fenced_refusal(batch.stream, batch.epoch, epoch)
    if batch.expected != head.sequence:
        raise Refusal(
            "conflict",
            f"The stream {batch.stream} is at {head.sequence}, not at {batch.expected}.",
            hint="Read the newer facts and decide again.",
        )


def build_fenced_refusal(stream: str, epoch: int, now: int) -> Refusal:
    """Return the refusal of a writer whose epoch has ended."""
    return Refusal(
        "fenced",
        f"The stream {stream} has the epoch {now}; a writer of epoch {epoch} may not append to it.",
        hint="Another process took over the store. Stop this process and use the other one.",
    )


def build_key_refusal(key: str) -> Refusal:
    """Return the refusal of a second answer for an idempotency key."""
    return Refusal(
        "idempotency_conflict",
        f"The key {key} already has an answer.",
        field="idempotencyKey",
        hint="Repeat the same command to get that answer, or send the new command with a new key.",
    )


def build_required_refusal(stream: str) -> Refusal:
    """Return the refusal of a batch without the stream that it requires."""
    return Refusal(
        "unknown_session",
        f"The stream {stream} has no facts, and the batch requires them.",
        hint="Append the facts of that stream first, then repeat the batch.",
    )


def build_unknown_fact_refusal(stream: str, sequence: int) -> Refusal:
    """Return the refusal of an unknown sequence."""
    return Refusal(
        "invalid_input",
        f"The stream {stream} has no fact {sequence}.",
        field="sequence",
        hint="Use the sequence of a fact that you have read.",
    )


def build_empty_head(stream: str) -> Head:
    """Return the head of a stream without facts."""
    return Head(sequence=0, link=chain.begin_chain(stream))


def seal(batch: Append, draft: Draft, head: Head, number: int = 0) -> SealedBatch:
    """Append the batch after `head`.

    The time of a batch that is older than the newest fact is raised to that fact's time.

    Args:
        number: The backend's number of the stream.
    """
    stream, sequence, previous = batch.stream, head.sequence, head.link
    at = max(batch.origin.at, head.at)
    lines: list[Line] = []
    records: list[Record] = []
    for fact, header, data, payload, salt, payload_digest in draft.facts:
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


def decode_record(stream: str, stored: StoredBytes) -> Record:
    """Decode a stored fact. Raises Refusal `chain_broken` if it is not readable."""
    header = decode_header(stored.header)
    return Record(
        stream,
        stored.sequence,
        header,
        stored.link,
        decode_payload(header.type, stored.payload, header.version),
        stored.payload,
    )


def is_export_of(header: bytes, payload: bytes | None, sequence: int) -> bool:
    """Return whether a fact names an evidence pack that contains the fact `sequence`."""
    if payload is None or (decoded := decode_header(header)).type != EvidenceExported.type:
        return False
    fact = decode_payload(EvidenceExported.type, payload, decoded.version)
    return isinstance(fact, EvidenceExported) and fact.through >= sequence


def find_blob_hashes(payload: bytes) -> set[str]:
    """Return the hashes of the blobs that an encoded payload refers to, also for unknown facts.

    Quotes inside a JSON string are escaped, so no content can look like a reference.
    """
    return {hash.decode() for hash in _REFERENCE.findall(payload)}
