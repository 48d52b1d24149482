"""What a provider wants back with its reasoning and its calls: signatures, encrypted items, names of fields.

It is opaque to the rest of the house and goes back to the model that gave it and to no other: another one refuses it, or
takes it for its own words.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Seal(msgspec.Struct, frozen=True, array_like=True):
    """`by` is the model that gave it, as `PROVIDER/MODEL`; the rest is what the library holds of the part."""

    by: str
    id: str = ""
    signature: str = ""
    details: dict[str, Any] = {}


def sealed(by: str, id: str | None, signature: str | None, details: dict[str, Any] | None) -> str:
    """The seal as text; empty where there is nothing to give back."""
    if not (id or signature or details):
        return ""
    return msgspec.json.encode(Seal(by=by, id=id or "", signature=signature or "", details=details or {})).decode()


def opened(by: str, text: str) -> Seal | None:
    """The seal, where it is that model's; None for another's and for what is none."""
    if not text:
        return None
    try:
        seal = msgspec.json.decode(text, type=Seal)
    except msgspec.MsgspecError:
        return None
    return seal if seal.by == by else None
