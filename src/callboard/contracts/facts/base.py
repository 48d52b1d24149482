"""What every fact is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from ..content import Text
from ..scope import ScopeKey

#: The fields of a fact whose payload was erased; those with a default may be absent.
ErasedForm = Mapping[str, Any]
ERASED = Text(erased=True)
UNKNOWN = "unknown"
#: Behind all other turns of a queue.
LAST_POSITION = 1 << 30


class Fact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that happened, immutable.

    A shipped fact never changes. New content gets a default, a new type, or a higher `schema_version` with an upcaster
    (`contracts.upcasts`).

    Attributes:
        type: The wire tag.
        needs: The ids that the scope must have. A scope that lacks one is refused when the fact is built.
        closes: The entity that is terminal after this fact. Deciders get its id back as closed.
        erased: The fields that replace an erased payload. Texts read as erased and names as unknown; where a field has no
            word for unknown, the careful value is used, such as the highest risk. None if the fact means nothing without its
            payload and is not shown then.
        readable: False for the stand-ins of facts that were erased or cannot be read.
    """

    type: ClassVar[str] = ""
    schema_version: ClassVar[int] = 1
    needs: ClassVar[tuple[ScopeKey, ...]] = ()
    closes: ClassVar[ScopeKey | None] = None
    erased: ClassVar[ErasedForm | None] = None
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
