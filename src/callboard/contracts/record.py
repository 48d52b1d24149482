"""A fact as the log keeps it, and as it leaves on the wire."""

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


class NewFact(msgspec.Struct, frozen=True):
    """A fact that was decided and is not yet in the log.

    Raises ValueError where the scope lacks an id that the fact needs: such a fact would mean nothing.
    """

    fact: Fact
    scope: Scope = Scope()

    def __post_init__(self) -> None:
        for name in self.fact.needs:
            if not getattr(self.scope, name):
                raise ValueError(f"{self.fact.type} needs the id of its {name}")


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands beside every payload and holds no content; part of the chain.

    Stored as MessagePack with short names. Ids that the runtime gave are stored packed (`ids.pack`).

    `at` is in microseconds since the epoch and never goes back within a stream. `epoch` says which holder of the stream
    wrote the fact. Without `actor` it was the runtime's own doing. `cause` is the event id of the fact in another stream
    that led to this one.
    """

    type: str = msgspec.field(name="y")
    at: int = msgspec.field(name="at")
    epoch: int = msgspec.field(name="e")
    version: int = msgspec.field(default=1, name="v")
    command_id: str = msgspec.field(default="", name="c")
    actor: Actor | None = msgspec.field(default=None, name="by")
    cause: str = msgspec.field(default="", name="from")
    scope: Scope = msgspec.field(default=Scope(), name="i")


class Record(msgspec.Struct, frozen=True):
    """A fact in the log: its place, its header, its chain link and its content.

    `payload` are the bytes that are chained, None where they were erased or the record was not read from a log. What leaves
    the system are these bytes: encoded anew, a number could be written in another way.
    """

    stream: str
    sequence: int
    header: Header
    link: bytes
    fact: Fact
    payload: bytes | None = None

    @property
    def event_id(self) -> str:
        """Unique in the store, and derivable: the stream and the sequence."""
        return f"{self.stream}/{self.sequence}"

    @property
    def scope(self) -> Scope:
        return self.header.scope

    @property
    def unread(self) -> bool:
        """True where this code cannot read the fact: it is of a type or a version that it does not know."""
        return isinstance(self.fact, UnknownFact)

    @property
    def schema_version(self) -> int:
        """The version of the fact's shape as it is here: what is older was raised when it was read."""
        return self.fact.schema_version if self.fact.readable else self.header.version


def unreadable(record: Record) -> Refusal:
    """Return the refusal to decide in a stream with a fact that this code cannot read."""
    return Refusal(
        "facts_unreadable",
        f"This version cannot read the fact {record.event_id} ({record.header.type}, version {record.header.version}).",
        hint="Update Callboard. Until then it can be read and not continued; nothing was changed.",
    )


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where the facts of one batch come from; the same for all of them."""

    at: int
    command_id: str = ""
    actor: Actor | None = None
    cause: str = ""


class WireEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A fact as it leaves the system: the envelope of the Agent UI specification (Event envelope) with the runtime's ids.

    `timestamp` is RFC 3339 in UTC with microseconds. `owner`, `scope`, `phase`, `surface` and `persistence` are not here:
    they are functions of the fact, computed by the edge that needs them.
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
#: The ids that are packed, by the short names of a header and of its scope, and what kind each is of.
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


def header_of(new: NewFact, origin: Origin, epoch: int) -> Header:
    """The header under which a decided fact is stored."""
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
    """The bytes that are stored and chained."""
    # The bytes stand where text is declared: they are only here for the encoder.
    command: Any = header.command_id and pack("command", header.command_id)
    return _header_encoder.encode(replace(header, command_id=command, scope=_packed(header.scope)))


def _packed(scope: Scope) -> Scope:
    changes: dict[str, Any] = {}
    # In this way and not in a loop, because it is done for every fact.
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
    """The header of stored bytes. Raises Refusal `facts_unreadable` where they are not a header of this version."""
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
    """The bytes that are stored and chained. An unknown fact keeps the bytes that it came with."""
    if isinstance(fact, UnknownFact):
        return bytes(fact.payload)
    return _payload_encoder.encode(fact)


def as_decoded(fact: Fact, payload: bytes) -> Fact:
    """Return the fact as reading its payload gives it.

    A whole number in a field of floats is an int where the fact is decided and a float where it is read. So that all who see
    a fact see the same values, such a fact is decoded at once.
    """
    return decode_payload(fact.type, payload, fact.schema_version) if _has_floats(fact.type) else fact


@cache
def _has_floats(tag: str) -> bool:
    return tag in FACTS and _contains_float(msgspec.inspect.type_info(FACTS[tag]), set())


def _contains_float(info: Any, seen: set[type]) -> bool:
    """True where a value of the type may contain a float in a field that is declared as one."""
    if isinstance(info, msgspec.inspect.FloatType):
        return True
    if isinstance(info, msgspec.inspect.StructType):
        if info.cls in seen:
            return False
        seen.add(info.cls)
        return any(_contains_float(field.type, seen) for field in info.fields)
    inner = [getattr(info, name, None) for name in ("item_type", "key_type", "value_type")]
    inner += [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    return any(_contains_float(one, seen) for one in inner if one is not None)


def decode_payload(tag: str, data: bytes | None, version: int = 1) -> Fact:
    """Return the fact of stored bytes, raised to the present version of its type where it is older.

    `ErasedFact` where the bytes are gone. `UnknownFact` where this code does not know the type or that version of it, or
    where the bytes do not have the shape of that version.
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


def step_id(run: str, step: int) -> str:
    """The wire id of a step: unique because runs are. It is the id of the message part, too."""
    return f"{run}.{step}"


def trace_id(turn: str) -> str:
    """The W3C trace id of a turn: 32 hex digits."""
    return hashlib.sha256(turn.encode()).hexdigest()[:32]


def span_id(identity: str) -> str:
    """The W3C span id of a run or of a step: 16 hex digits."""
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
