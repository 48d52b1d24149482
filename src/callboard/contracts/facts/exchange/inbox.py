"""Facts of inboxes (Communication specification)."""

from __future__ import annotations

from typing import ClassVar

from ...scope import ScopeKey
from ..base import Fact


class InboxReserved(Fact, frozen=True, kw_only=True):
    """The run in the scope received these inbox items. They are consumed once its model responds."""

    type: ClassVar[str] = "inbox.reserved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    items: tuple[str, ...]


class InboxConsumed(Fact, frozen=True, kw_only=True):
    """The model of the run responded, so these items are consumed, once and in this order."""

    type: ClassVar[str] = "inbox.consumed"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    items: tuple[str, ...]


InboxFact = InboxReserved | InboxConsumed
