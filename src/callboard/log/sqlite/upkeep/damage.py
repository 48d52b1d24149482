"""One thing that is wrong in a store, and what to do about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from ....contracts.errors import Code

#: What is damaged: the database file itself, a fact of a stream, a blob, a reference from a fact to a blob, or the views,
#: which are derived and made anew.
DamageKind = Literal["database", "fact", "blob", "reference", "views"]

_RESTORE = "Restore a backup with `callboard restore FILE --replace`; the present store is kept beside it."
ADVICE: dict[DamageKind, str] = {
    "database": f"Stop Callboard and keep a copy of the folder. {_RESTORE}",
    "fact": f"Facts before it are as they were written. {_RESTORE}",
    "blob": f"Its session opens; the content is not shown. {_RESTORE}",
    "reference": f"Its session opens; the content is missing. {_RESTORE}",
    "views": "Nothing is lost: derived data is damaged, and is folded anew from the log when it is next read.",
}
#: The code that a read of each kind is refused with; of the views, that they are folded anew with.
CODES: dict[DamageKind, Code] = {
    "database": "store_unusable",
    "fact": "chain_broken",
    "blob": "blob_damaged",
    "reference": "unknown_blob",
    "views": "rows_damaged",
}


class Damage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is wrong. `name` is a file, a stream or a hash; `sequence` the first fact that does not fit, where there is one."""

    kind: DamageKind
    code: Code
    name: str
    message: str
    advice: str
    sequence: int = 0

    @property
    def is_loss(self) -> bool:
        """True where something that was stored cannot be had from what is left."""
        return self.kind != "views"


class Checked(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was looked at, and what is wrong with it. `whole` is False for a quick look."""

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
        """True where nothing that was stored is lost."""
        return not any(one.is_loss for one in self.damages)


def describe_damage(kind: DamageKind, name: str, message: str, sequence: int = 0, *, advice: str = "") -> Damage:
    """Return a damage with the code and, where there is no other, the advice for its kind."""
    return Damage(
        kind=kind, code=CODES[kind], name=name, message=message, advice=advice or ADVICE[kind], sequence=sequence
    )
