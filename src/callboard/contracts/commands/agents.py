"""The command by which a person takes an agent of the folder into a session."""

from __future__ import annotations

from ..team import AgentName
from .base import Answer, Command
from .turns import Id, Reason


class AddAgent(Command, frozen=True, kw_only=True):
    """Take an agent of the folder into the session: it gets a thread, and one with a schedule sleeps until its time.
    Subagents are spawned instead; an agent that is there already stays as it is."""

    session_id: Id
    agent: AgentName
    reason: Reason = ""


class AgentAdded(Answer, frozen=True, kw_only=True):
    """The agent. `added` is False where it was there before."""

    session_id: str
    agent_id: str
    thread_id: str
    added: bool
    sequence: int
