"""What a command is, and the one row that declares it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

#: The largest whole number that every client and every store can represent exactly.
LARGEST = 2**53 - 1
Sequence = Annotated[int, Meta(ge=0, le=LARGEST)]


class Command(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """A request to the control plane. What it may lack, the control plane fills in and the answer names."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a command comes to, once it is durable."""


#: Who may ask: a person at a surface of this product, or anyone who holds the token, agents included.
Authority = Literal["person", "anyone"]
#: The stream that a command is serial by.
Serial = Literal["session", "workspace", "store"]


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """One command. Routes, OpenAPI, JSON-RPC, CLI help and TypeScript come from this row and from nothing else.

    A query changes nothing and needs no key; one that `waits` may take long, and is given up when its asker goes. `summary`
    is the semantics in one sentence.
    """

    name: str
    command: type[Command]
    answer: type[msgspec.Struct]
    serial: Serial
    authority: Authority = "person"
    query: bool = False
    waits: bool = False
    summary: str
