"""Erased forms of facts, for display.

The header and scope of an erased fact remain, so a turn is still a turn and a call still ends.
`Fact.erased` declares the form.
"""

from __future__ import annotations

import msgspec

from .facts import FACTS
from .facts.base import ErasedFact, Fact
from .record import Record

_FORMS: dict[str, Fact] = {tag: fact(**fact.erased) for tag, fact in FACTS.items() if fact.erased is not None}


def with_erased_form(record: Record) -> Record:
    """Return the record with the erased form of its fact; unchanged if the fact is not erased or has no such form."""
    if not isinstance(record.fact, ErasedFact):
        return record
    fact = _FORMS.get(record.header.type)
    return record if fact is None else msgspec.structs.replace(record, fact=fact)
