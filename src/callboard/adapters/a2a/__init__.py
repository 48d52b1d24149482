"""Agents elsewhere that speak the Agent2Agent protocol (A2A, v1.0 and v0.3), as a client of theirs.

agents      reaches them: the port `RemoteAgents`
card        their Agent Cards, read within bounds, of one origin only
bounded     what may come over the wire
session     a conversation: the port `RemoteSession`
following   one prompt: its task is followed until that end says that it is over
told        what it tells in one prompt, each thing once
failures    why nothing came of it
words       their words as ours
"""

from .agents import A2aAgents
from .pace import Pace

__all__ = ["A2aAgents", "Pace"]
