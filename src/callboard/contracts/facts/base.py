"""What every fact is."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ..scope import ScopeKey


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that happened, immutable. A shipped fact never changes: what is new gets a default, a new type, or a higher
    `schema_version` with an upcaster (`facts.upcasts`).

    `type` is the wire tag. `needs` are the ids without which the fact means nothing; a scope that lacks one is refused
    when the fact is built. `closes` names the entity that is terminal after this fact; its id then comes back to the
    deciders as known.
    """

    type: ClassVar[str] = ""
    schema_version: ClassVar[int] = 1
    needs: ClassVar[tuple[ScopeKey, ...]] = ()
    closes: ClassVar[ScopeKey | None] = None
    #: What the log reports of itself for a fact whose payload it erased or cannot read.
    readable: ClassVar[bool] = True


class UnknownFact(Fact, frozen=True, kw_only=True):
    """A fact of a type or a version that this code cannot read: kept as it is, shown as unknown, passed on unchanged.

    Nothing is decided in a stream that has one, because its state is not known.
    """

    type: ClassVar[str] = "unknown"
    readable: ClassVar[bool] = False
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class ErasedFact(Fact, frozen=True, kw_only=True):
    """A fact whose payload was erased. Its header and chain link remain."""

    type: ClassVar[str] = "erased"
    readable: ClassVar[bool] = False
