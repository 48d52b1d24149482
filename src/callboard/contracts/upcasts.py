"""Upcasters: conversions of a fact's payload from one schema version to the next.

A fact is stored with its `schema_version`. A new field with a default needs no new version. Any
other change of a shipped fact raises `schema_version` by one and adds a step here. Steps are pure
functions of plain JSON objects. They run when a fact is read, after its chain link was checked.
Stored bytes never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Payload = dict[str, Any]
Upcast = Callable[[Payload], Payload]

#: The step from a version to the next, by wire tag and version.
UPCASTS: Mapping[tuple[str, int], Upcast] = {}


def upcast(tag: str, version: int, to: int, payload: Payload, steps: Mapping[tuple[str, int], Upcast]) -> Payload:
    """Return the payload converted to version `to`.

    Raises:
        LookupError: A step is missing.
    """
    for step in range(version, to):
        payload = steps[tag, step](payload)
    return payload
