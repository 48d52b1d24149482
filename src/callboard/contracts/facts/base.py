"""Base class of facts, and stand-ins for facts that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from ..content import Text
from ..scope import ScopeKey

#: Field values of a fact whose payload was erased; fields with a default may be absent.
ErasedForm = Mapping[str, Any]
ERASED = Text(erased=True)
UNKNOWN = "unknown"
#: Queue position behind all others.
LAST_POSITION = 1 << 30


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """Something that happened, immutable.

    A shipped fact never changes. New content gets a default, a new type, or a higher
    `schema_version` with an upcaster (`contracts.upcasts`).

    Attributes:
        type: Wire tag.
        needs: Ids that the scope must have. A fact with an incomplete scope cannot be built.
        closes: Entity that is terminal after this fact. Decision inputs report its id as closed.
        erased: Values that replace an erased payload: texts read as erased, names as unknown, and
            others as the safest value, such as the highest risk. None if the fact means
            nothing without its payload; it is not shown then.
        is_diagnostic: True if no vocabulary of other programs has an event for it. Agent UI gets a
            diagnostic.
        readable: False for the stand-ins of erased and unreadable facts.
    """

    type: ClassVar[str] = ""
    schema_version: ClassVar[int] = 1
    needs: ClassVar[tuple[ScopeKey, ...]] = ()
    closes: ClassVar[ScopeKey | None] = None
    erased: ClassVar[ErasedForm | None] = None
    is_diagnostic: ClassVar[bool] = False
    readable: ClassVar[bool] = True


class UnknownFact(Fact, frozen=True, kw_only=True):
    """A fact of an unknown type or version, stored and passed on unchanged.

    A stream that contains one accepts no command, because its state is unknown.
    """

    type: ClassVar[str] = "unknown"
    readable: ClassVar[bool] = False
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class ErasedFact(Fact, frozen=True, kw_only=True):
    """A fact whose payload was erased. Its header and chain link remain."""

    type: ClassVar[str] = "erased"
    readable: ClassVar[bool] = False
