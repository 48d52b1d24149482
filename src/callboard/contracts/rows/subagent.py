"""Rows of the results that children report to their parents."""

from __future__ import annotations

from typing import ClassVar

from ..content import Text
from ..entities.team import WorkUsage
from ..facts.subagent import NotificationStatus
from .base import Row
from .part import Part


class NotificationPart(Part, tag="worker_notification", frozen=True, kw_only=True):
    """A child's result that the turn received.

    `transcript` is the child's thread. With `plain_text` the child answered in plain text and did
    not finalize.
    """

    agent_id: str
    task_id: str
    status: NotificationStatus
    summary: str
    transcript: str = ""
    plain_text: bool = False


class NotificationRow(Row, tag="notification", frozen=True, kw_only=True):
    """A child's result for its parent; the key is the event's id. `consumed`: a turn of the parent received it."""

    panel: ClassVar[str] = "notifications"
    agent_id: str
    parent_agent_id: str
    task_id: str
    status: NotificationStatus
    summary: str
    result: Text = Text()
    transcript: str = ""
    usage: WorkUsage = WorkUsage()
    at: int = 0
    consumed: bool = False
    plain_text: bool = False
