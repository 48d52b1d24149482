"""The tests of every store. A backend inherits these classes and has the fixture `store`: an empty store, epoch 1."""

from __future__ import annotations

from .appends import AnswerSuite, AppendSuite
from .arrivals import ArrivalSuite
from .blobs import BlobSuite
from .conversations import ConversationSuite
from .partials import PartialSuite
from .removal import RemovalSuite
from .rows import RowSuite
from .subscriptions import SubscriptionSuite


class LogSuite(AppendSuite, AnswerSuite, ArrivalSuite, SubscriptionSuite, RemovalSuite):
    """Tests of the port `FactLog`."""


__all__ = ["BlobSuite", "ConversationSuite", "LogSuite", "PartialSuite", "RowSuite"]
