"""Seals: opaque data that a provider requires with its reasoning and calls, such as signatures and encrypted items.

A seal is sent back only to the model that created it. Other models refuse it or read it as their own output.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Seal(msgspec.Struct, frozen=True, array_like=True):
    """A seal. `by` is its model as `PROVIDER/MODEL`; the other fields are the library's data of the part."""

    by: str
    id: str = ""
    signature: str = ""
    details: dict[str, Any] = {}


def encode_seal(by: str, id: str | None, signature: str | None, details: dict[str, Any] | None) -> str:
    """Encode a seal; empty if there is no data."""
    if not (id or signature or details):
        return ""
    return msgspec.json.encode(Seal(by=by, id=id or "", signature=signature or "", details=details or {})).decode()


def decode_seal(by: str, text: str) -> Seal | None:
    """Decode a seal of the model `by`; None for other models and invalid texts."""
    if not text:
        return None
    try:
        seal = msgspec.json.decode(text, type=Seal)
    except msgspec.MsgspecError:
        return None
    return seal if seal.by == by else None
