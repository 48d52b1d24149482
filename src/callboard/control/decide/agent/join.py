"""Agents that join a session: its lead, and agents that a person adds."""

from __future__ import annotations

from callboard.contracts.commands.agent import AddAgent, AgentAdded
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import Thread
from ..turn.start import require_thread
from .addressing import build_thread_opened, find_agent, join_session


def begin_session(
    batch: Batch, title: str, mode: Mode, permission_mode: PermissionMode, thread: str | None = None
) -> None:
    """Add the first facts of a session, with its lead. Raises what `configure_run` raises for the lead."""
    batch.add(SessionCreated(workspace_id=batch.inputs.workspace, folder=batch.inputs.folder, title=title), Scope())
    config = batch.inputs.configure_run("", mode, permission_mode)
    definition = batch.inputs.find_definition(config.definition)
    fact = (
        build_thread_opened(definition, config.agent_name)
        if definition is not None
        else ThreadOpened(
            agent_name=config.agent_name,
            kind=config.kind,
            definition=config.definition,
            definition_hash=config.definition_hash,
        )
    )
    batch.add(fact, Scope(agent=config.agent_name, thread=thread or batch.inputs.ids.new("thread")))


def add_agent(batch: Batch, request: AddAgent) -> AgentAdded:
    """Add an agent of the folder to the session, unless it is there.

    Raises:
        Refusal: `unknown_agent`; `delegate_target_denied` for a subagent.
    """
    thread = find_agent(batch.state, request.agent)
    if thread is not None:
        return _build_answer(batch, thread, added=False)
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
    return _build_answer(batch, join_session(batch, definition, require_thread(batch.state, None)), added=True)


def _build_answer(batch: Batch, thread: Thread, *, added: bool) -> AgentAdded:
    return AgentAdded(
        session_id=batch.state.session,
        agent_id=thread.agent,
        thread_id=thread.thread,
        added=added,
        sequence=batch.state.sequence,
    )
