"""A line of a plan, as facts, rows and programs of their own say it."""

from __future__ import annotations

from typing import Literal

import msgspec

PlanStatus = Literal["pending", "in_progress", "completed"]


class PlanStep(msgspec.Struct, frozen=True, rename="camel"):
    """One line of an agent's plan, in the agent's words."""

    content: str
    status: PlanStatus
