"""What every store must do. A backend inherits these classes and gives the fixture `store`: an empty one, epoch 1."""

from __future__ import annotations

from .appends import AnswerSuite, AppendSuite
from .arrivals import ArrivalSuite
from .blobs import BlobSuite
from .partials import PartialSuite
from .removal import RemovalSuite
from .rows import RowSuite
from .subscriptions import SubscriptionSuite


class LogSuite(AppendSuite, AnswerSuite, ArrivalSuite, SubscriptionSuite, RemovalSuite):
    """The FactLog port."""


__all__ = ["BlobSuite", "LogSuite", "PartialSuite", "RowSuite"]
