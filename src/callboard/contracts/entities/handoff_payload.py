"""Payload of a handoff (Communication specification, Envelope)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .team import Ref

#: Maximum size of a handoff's message in bytes of UTF-8. Larger content is sent as a ref.
MAX_MESSAGE_BYTES = 8 * 1024


class _WrittenInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Input of an agent or a person."""


class HandoffStatus(_WrittenInput, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Status of the sender's work."""

    ok: bool
    reason: Annotated[str, Meta(max_length=2000)] = ""


class Expectation(_WrittenInput, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The expected reply. A required reply is tracked until it arrives or expires."""

    expectation: Literal["none", "optional", "required"] = "optional"
    reply_to: Annotated[str, Meta(max_length=64)] = ""
    within_s: Annotated[int, Meta(ge=1, le=604_800)] | None = None


class Payload(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Payload of a handoff. Only the message is required."""

    message: str
    structured: dict[str, Any] | None = None
    artifacts: tuple[Ref, ...] = ()
    status: HandoffStatus | None = None
    response: Expectation | None = None
