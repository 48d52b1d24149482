"""A session begins, with the agent that leads it."""

from __future__ import annotations

from callboard.contracts.facts import SessionCreated, ThreadOpened
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.scope import Scope

from ...batch import Batch
from ..agent.addressing import build_thread_opened


def begin_session(
    batch: Batch, title: str, mode: Mode, permission_mode: PermissionMode, thread: str | None = None
) -> None:
    """Says the session's first facts. Raises what the setup of its lead raises."""
    batch.add(SessionCreated(workspace_id=batch.inputs.workspace, folder=batch.inputs.folder, title=title), Scope())
    setup = batch.inputs.configure_run("", mode, permission_mode)
    definition = batch.inputs.find_definition(setup.definition)
    fact = (
        build_thread_opened(definition, setup.agent_name)
        if definition is not None
        else ThreadOpened(
            agent_name=setup.agent_name,
            kind=setup.kind,
            definition=setup.definition,
            definition_hash=setup.definition_hash,
        )
    )
    batch.add(fact, Scope(agent=setup.agent_name, thread=thread or batch.inputs.ids.new("thread")))
