"""Client of remote agents over the Agent2Agent protocol (A2A, v1.0 and v0.3)."""

from .agents import A2aAgents
from .pace import Pace

__all__ = ["A2aAgents", "Pace"]
