"""What a handoff carries (Communication specification, Envelope)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .team import Ref

#: The largest message of a handoff, in UTF-8 bytes; what is larger is sent as a ref.
LARGEST_MESSAGE = 8 * 1024


class _Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Written by an agent or a person."""


class HandoffStatus(_Written, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How the sender's work stands."""

    ok: bool
    reason: Annotated[str, Meta(max_length=2000)] = ""


class Expectation(_Written, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whether an answer is awaited, and by whom. A required one is tracked until it comes or expires."""

    expectation: Literal["none", "optional", "required"] = "optional"
    reply_to: Annotated[str, Meta(max_length=64)] = ""
    within_s: Annotated[int, Meta(ge=1, le=604_800)] | None = None


class Payload(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is handed over. Only the message is required."""

    message: str
    structured: dict[str, Any] | None = None
    artifacts: tuple[Ref, ...] = ()
    status: HandoffStatus | None = None
    response: Expectation | None = None
