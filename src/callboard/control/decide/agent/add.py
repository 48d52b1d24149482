"""Agents that join a session: its lead, and agents that a person adds."""

from __future__ import annotations

from callboard.contracts.commands.agents import AddAgent, AgentAdded
from callboard.contracts.errors import Refusal

from ...batch import Batch
from ...state.session import Thread
from ..turn.start import require_thread
from .addressing import find_agent, join_session


def add_agent(batch: Batch, request: AddAgent) -> AgentAdded:
    """Add an agent of the folder to the session, unless it is there.

    Raises:
        Refusal: `unknown_agent`; `delegate_target_denied` for a subagent.
    """
    found = find_agent(batch.state, request.agent)
    if found is not None:
        return _answer(batch, found, added=False)
    definition = batch.inputs.find_definition(request.agent)
    if definition is None:
        raise Refusal(
            "unknown_agent",
            f"There is no definition {request.agent}.",
            field="agent",
            hint=f"There are: {', '.join(batch.inputs.list_definition_names()) or 'none'}.",
        )
    if definition.kind == "subagent":
        raise Refusal(
            "delegate_target_denied",
            f"{definition.name} is a subagent and works for one parent.",
            field="agent",
            hint="Give it an objective with spawn_subagent.",
        )
    return _answer(batch, join_session(batch, definition, require_thread(batch.state, None)), added=True)


def _answer(batch: Batch, thread: Thread, *, added: bool) -> AgentAdded:
    return AgentAdded(
        session_id=batch.state.session,
        agent_id=thread.agent,
        thread_id=thread.thread,
        added=added,
        sequence=batch.state.sequence,
    )
