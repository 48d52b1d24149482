"""Upcasters: what turns the payload of an older version of a fact into one of the next version.

A fact's `schema_version` is written with it. Adding a field with a default needs no new version. Any other change of a
shipped fact raises `schema_version` by one and adds a step here. Steps are pure, take and return plain JSON objects, and
run when a fact is read, after its chain link was checked. Stored bytes never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Payload = dict[str, Any]
Upcast = Callable[[Payload], Payload]

#: By wire tag and version: the step from that version to the next.
UPCASTS: Mapping[tuple[str, int], Upcast] = {}


def upcast(tag: str, version: int, to: int, payload: Payload, steps: Mapping[tuple[str, int], Upcast]) -> Payload:
    """Return the payload as one of version `to`. Raises LookupError where a step is missing."""
    for step in range(version, to):
        payload = steps[tag, step](payload)
    return payload
