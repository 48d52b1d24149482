"""The canonical envelope of a handoff (Communication specification, Envelope)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .entities.handoff_payload import Payload
from .facts.exchange.handoff import HandoffRequested
from .times import format_timestamp


class Envelope(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A handoff as it leaves the system and as its receiver gets it. Nodes are agents of the session."""

    kind: Literal["handoff"]
    id: str
    from_node_id: str
    to_node_id: str
    created_at: str
    payload: Payload
    context_ref: str = ""
    meta: dict[str, Any] | None = None


def build_news_id(handoff: str, news: Literal["accepted", "rejected", "returned", "expired"]) -> str:
    """Return the inbox id of news of a handoff.

    The envelope itself has the handoff's id, so the ids of all items differ.
    """
    return f"{handoff}.{news}"


def build_envelope(handoff: str, at: int, fact: HandoffRequested) -> Envelope:
    """Return the canonical envelope of a handoff that was requested at `at` (microseconds since the epoch)."""
    return Envelope(
        kind="handoff",
        id=handoff,
        from_node_id=fact.source,
        to_node_id=fact.target,
        created_at=format_timestamp(at),
        payload=fact.payload,
        context_ref=fact.context_ref,
        meta=fact.meta,
    )


def encode_envelope(envelope: Envelope) -> dict[str, Any]:
    """Return the envelope as JSON, with the expected response even if it is the default."""
    fields: dict[str, Any] = msgspec.to_builtins(envelope)
    response = envelope.payload.response
    if response is not None:
        fields["payload"]["response"] = {"expectation": response.expectation, **fields["payload"]["response"]}
    return fields
