"""Steps of plans, for facts, rows and external agents."""

from __future__ import annotations

from typing import Literal

import msgspec

PlanStatus = Literal["pending", "in_progress", "completed"]


class PlanStep(msgspec.Struct, frozen=True, rename="camel"):
    """A step of an agent's plan, in the agent's words."""

    content: str
    status: PlanStatus
