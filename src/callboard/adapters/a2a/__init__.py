"""Client of remote agents over the Agent2Agent protocol (A2A, v1.0 and v0.3).

Modules:
    agents: The port `RemoteAgents`: connects to an agent.
    card: Reading of Agent Cards, limited in size and to one origin.
    transport: HTTP transport that limits the size of responses.
    session: The port `RemoteSession`: one conversation.
    task_follower: One prompt, followed until its task ends.
    task_events: Conversion of task updates to events without duplicates.
    translation: Conversion of protocol messages and artifacts.
    failures: Conversion of errors to `ExternalFailure`.
"""

from .agents import A2aAgents
from .pace import Pace

__all__ = ["A2aAgents", "Pace"]
