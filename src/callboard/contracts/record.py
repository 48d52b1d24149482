"""A fact with its header in the log and on the wire."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import msgspec
import msgspec.inspect
from msgspec.structs import replace

from .errors import Refusal
from .facts import FACTS
from .facts.base import ErasedFact, Fact, UnknownFact
from .ids import ID_BYTES, IdKind, pack, unpack
from .scope import Actor, Scope
from .upcasts import UPCASTS, upcast


class NewFact(msgspec.Struct, frozen=True, gc=False):
    """A decided fact before it is stored.

    Raises:
        ValueError: The scope lacks an id that the fact needs.
    """

    fact: Fact
    scope: Scope = Scope()

    def __post_init__(self) -> None:
        for name in self.fact.needs:
            if not getattr(self.scope, name):
                raise ValueError(f"{self.fact.type} needs the id of its {name}")


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The header of a fact. It is part of the chain and has no content.

    It is stored as MessagePack with short names and packed ids (`ids.pack`). `at` is in
    microseconds since the epoch and never goes back within a stream. `epoch` is the lease of the
    writer. Without `actor` the runtime caused the fact. `cause` is the event id of a fact in
    another stream that led to it.
    """

    type: str = msgspec.field(name="y")
    at: int = msgspec.field(name="at")
    epoch: int = msgspec.field(name="e")
    version: int = msgspec.field(default=1, name="v")
    command_id: str = msgspec.field(default="", name="c")
    actor: Actor | None = msgspec.field(default=None, name="by")
    cause: str = msgspec.field(default="", name="from")
    scope: Scope = msgspec.field(default=Scope(), name="i")


class Record(msgspec.Struct, frozen=True, gc=False):
    """A fact in the log.

    `payload` are the chained bytes; None if they were erased or the record was not read from a log.
    Edges send these bytes: another encoding could write a number differently.
    """

    stream: str
    sequence: int
    header: Header
    link: bytes
    fact: Fact
    payload: bytes | None = None

    @property
    def event_id(self) -> str:
        """Return the unique id in the store: the stream and the sequence."""
        return f"{self.stream}/{self.sequence}"

    @property
    def scope(self) -> Scope:
        """Return the ids of what the fact is about."""
        return self.header.scope

    @property
    def is_unreadable(self) -> bool:
        """Return True for a fact of an unknown type or version."""
        return isinstance(self.fact, UnknownFact)

    @property
    def schema_version(self) -> int:
        """Return the version of the fact's present shape; older facts are upcast when they are read."""
        return self.fact.schema_version if self.fact.readable else self.header.version


def build_unreadable_refusal(record: Record) -> Refusal:
    """Return the refusal of a command in a stream with an unreadable fact."""
    return Refusal(
        "facts_unreadable",
        f"This version cannot read the fact {record.event_id} ({record.header.type}, version {record.header.version}).",
        hint="Update Callboard. Until then the session is read-only.",
    )


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The common origin of the facts of one batch."""

    at: int
    command_id: str = ""
    actor: Actor | None = None
    cause: str = ""


class WireEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A fact on the wire: the envelope of the Agent UI specification (Event envelope) with the runtime's ids.

    `timestamp` is RFC 3339 in UTC with microseconds. `owner`, `scope`, `phase`, `surface` and
    `persistence` are functions of the fact; edges compute them if they need them.
    """

    type: str
    event_id: str
    schema_version: int
    sequence: int
    timestamp: str
    runtime_id: str
    session_id: str = ""
    workspace_id: str = ""
    thread_id: str = ""
    turn_id: str = ""
    run_id: str = ""
    step_id: str = ""
    attempt_id: str = ""
    message_id: str = ""
    part_id: str = ""
    task_id: str = ""
    agent_id: str = ""
    parent_session_id: str = ""
    parent_thread_id: str = ""
    parent_run_id: str = ""
    tool_call_id: str = ""
    action_id: str = ""
    artifact_id: str = ""
    evidence_id: str = ""
    handoff_id: str = ""
    channel_id: str = ""
    review_id: str = ""
    process_id: str = ""
    job_id: str = ""
    trace_id: str = ""
    span_id: str = ""
    command_id: str = ""
    actor: Actor | None = None
    cause: str = ""
    erased: bool = False
    payload: msgspec.Raw = msgspec.Raw(b"{}")


_header_encoder = msgspec.msgpack.Encoder()
_header_decoder = msgspec.msgpack.Decoder(dict[str, Any])
#: Kinds of the packed ids, by their short names in a header and its scope.
_KINDS: dict[str, IdKind] = {
    "t": "thread",
    "u": "turn",
    "r": "run",
    "k": "call",
    "a": "action",
    "ps": "session",
    "pt": "thread",
    "pr": "run",
    "c": "command",
}
_payload_encoder = msgspec.json.Encoder()
_payload_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    tag: msgspec.json.Decoder(kind) for tag, kind in FACTS.items()
}


def build_header(new: NewFact, origin: Origin, epoch: int) -> Header:
    """Return the header of a decided fact."""
    return Header(
        type=new.fact.type,
        at=origin.at,
        epoch=epoch,
        version=new.fact.schema_version,
        command_id=origin.command_id,
        actor=origin.actor,
        cause=origin.cause,
        scope=new.scope,
    )


def encode_header(header: Header) -> bytes:
    """Return the bytes to store and chain."""
    # Bytes in a text field, only for the encoder.
    command: Any = header.command_id and pack("command", header.command_id)
    return _header_encoder.encode(replace(header, command_id=command, scope=_pack(header.scope)))


def _pack(scope: Scope) -> Scope:
    changes: dict[str, Any] = {}
    # Unrolled because it runs for every fact.
    if scope.thread:
        changes["thread"] = pack("thread", scope.thread)
    if scope.turn:
        changes["turn"] = pack("turn", scope.turn)
    if scope.run:
        changes["run"] = pack("run", scope.run)
    if scope.tool_call:
        changes["tool_call"] = pack("call", scope.tool_call)
    if scope.action:
        changes["action"] = pack("action", scope.action)
    if scope.parent_session:
        changes["parent_session"] = pack("session", scope.parent_session)
    if scope.parent_thread:
        changes["parent_thread"] = pack("thread", scope.parent_thread)
    if scope.parent_run:
        changes["parent_run"] = pack("run", scope.parent_run)
    return replace(scope, **changes) if changes else scope


def decode_header(data: bytes) -> Header:
    """Return the header of stored bytes.

    Raises:
        Refusal: `facts_unreadable` for bytes that are not a header of this version.
    """
    try:
        stored = _header_decoder.decode(data)
        if "i" in stored:
            _unpack(stored["i"])
        if "c" in stored:
            _unpack(stored)
        return msgspec.convert(stored, Header)
    except msgspec.MsgspecError as error:
        raise Refusal(
            "facts_unreadable",
            f"A stored header cannot be read: {error}",
            hint="Update Callboard; the log is unchanged.",
        ) from error


def _unpack(stored: dict[str, Any]) -> None:
    for short, value in stored.items():
        if type(value) is bytes and len(value) == ID_BYTES and short in _KINDS:
            stored[short] = unpack(_KINDS[short], value)


def encode_payload(fact: Fact) -> bytes:
    """Return the bytes to store and chain. An unknown fact keeps its original bytes."""
    if isinstance(fact, UnknownFact):
        return bytes(fact.payload)
    return _payload_encoder.encode(fact)


def normalise_floats(fact: Fact, payload: bytes) -> Fact:
    """Return the fact as it will be read from its payload.

    An integer in a float field is an int before storing and a float after reading. To give all
    readers equal values, such a fact is decoded immediately.
    """
    if not _has_floats(fact.type):
        return fact
    stored = decode_payload(fact.type, payload, fact.schema_version)
    return fact if encode_payload(stored) == payload else stored


@cache
def _has_floats(tag: str) -> bool:
    return tag in FACTS and _contains_float(msgspec.inspect.type_info(FACTS[tag]), set())


def _contains_float(info: Any, visited: set[type]) -> bool:
    """Return True if a value of the type may have a float field."""
    if isinstance(info, msgspec.inspect.FloatType):
        return True
    if isinstance(info, msgspec.inspect.StructType):
        if info.cls in visited:
            return False
        visited.add(info.cls)
        return any(_contains_float(field.type, visited) for field in info.fields)
    inner = [getattr(info, name, None) for name in ("item_type", "key_type", "value_type")]
    inner += [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    return any(_contains_float(inner_type, visited) for inner_type in inner if inner_type is not None)


def decode_payload(tag: str, data: bytes | None, version: int = 1) -> Fact:
    """Return the fact of stored bytes, upcast to the present version of its type.

    Returns:
        `ErasedFact` for None. `UnknownFact` for an unknown type or version, and for bytes that do
            not have the shape of their version.
    """
    if data is None:
        return ErasedFact()
    kind, decoder = FACTS.get(tag), _payload_decoders.get(tag)
    if kind is None or decoder is None or version > kind.schema_version:
        return UnknownFact(payload=msgspec.Raw(data))
    try:
        if version < kind.schema_version:
            old = msgspec.json.decode(data, type=dict[str, Any])
            data = msgspec.json.encode(upcast(tag, version, kind.schema_version, old, UPCASTS))
        fact: Fact = decoder.decode(data)
    except (msgspec.MsgspecError, LookupError):
        return UnknownFact(payload=msgspec.Raw(data))
    return fact


def format_step_id(run: str, step: int) -> str:
    """Return the wire id of a step, which is also the id of its message part."""
    return f"{run}.{step}"


def derive_trace_id(turn: str) -> str:
    """Return the W3C trace id of a turn: 32 hex digits."""
    return hashlib.sha256(turn.encode()).hexdigest()[:32]


def derive_span_id(identity: str) -> str:
    """Return the W3C span id of a run or a step: 16 hex digits."""
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
