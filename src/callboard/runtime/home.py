"""The workspace that a session lives in, as far as its decisions need it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callboard.contracts.facts.permission import Rule
from callboard.contracts.settings import Effective
from callboard.control.state import ListedSession


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace as it is now; empty for none. `given` are the ids of all rules that ever reached it, `sessions` its list,
    `settings` what holds in its folder."""

    workspace: str
    folder: str
    sequence: int = 0
    rules: tuple[Rule, ...] = ()
    given: frozenset[str] = frozenset()
    settings: Effective = Effective()
    sessions: Mapping[str, ListedSession] = msgspec.field(default_factory=dict[str, ListedSession])
