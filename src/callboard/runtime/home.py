"""The workspace that a session lives in, as far as its decisions need it."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.permission import Rule


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace as it is now; empty for none. `given` are the ids of all rules that ever reached it, `archived` those of the
    sessions that a person closed."""

    workspace: str
    folder: str
    sequence: int = 0
    rules: tuple[Rule, ...] = ()
    given: frozenset[str] = frozenset()
    archived: frozenset[str] = frozenset()
