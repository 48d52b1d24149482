"""A defect in a store, with advice."""

from __future__ import annotations

from typing import Literal

import msgspec

from ....contracts.errors import Code

#: The database file, a fact of a stream, a blob, a reference from a fact to a blob, or the derived views.
DamageKind = Literal["database", "fact", "blob", "reference", "views"]

_RESTORE = "Restore a backup with `callboard restore FILE --replace`, which keeps the present store."
ADVICE: dict[DamageKind, str] = {
    "database": f"Stop Callboard and keep a copy of the folder. {_RESTORE}",
    "fact": f"Earlier facts are intact. {_RESTORE}",
    "blob": f"Its session opens without the content. {_RESTORE}",
    "reference": f"Its session opens without the content. {_RESTORE}",
    "views": "No data is lost: the next read rebuilds derived data from the log.",
}
#: The error code of a read of each kind.
CODES: dict[DamageKind, Code] = {
    "database": "store_unusable",
    "fact": "chain_broken",
    "blob": "blob_damaged",
    "reference": "unknown_blob",
    "views": "rows_damaged",
}


class Damage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A defect. `name` is a file, a stream or a hash; `sequence` is the first damaged fact, or 0."""

    kind: DamageKind
    code: Code
    name: str
    message: str
    advice: str
    sequence: int = 0

    @property
    def is_loss(self) -> bool:
        """Return True if stored data is lost."""
        return self.kind != "views"


class Checked(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a check. `whole` is False for a quick check."""

    store: str
    whole: bool
    store_id: str = ""
    streams: int = 0
    facts: int = 0
    blobs: int = 0
    blob_bytes: int = 0
    damages: tuple[Damage, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Return True if no stored data is lost."""
        return not any(damage.is_loss for damage in self.damages)


def describe_damage(kind: DamageKind, name: str, message: str, sequence: int = 0, *, advice: str = "") -> Damage:
    """Return a damage with the code and the default advice of its kind."""
    return Damage(
        kind=kind, code=CODES[kind], name=name, message=message, advice=advice or ADVICE[kind], sequence=sequence
    )
