"""Agents by name, and who can ask what of whom (Multi-agent runtime specification, Hard
invariants)."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition, fold_name
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...decision_inputs import limit_carried_mode
from ...state.session import Session, Thread
from ...state.subagent import Child
from ...state.turn import QueuedTurn
from ..turn.sleep import begin_background


def find_agent(state: Session, name: str) -> Thread | None:
    """Return the thread of the agent with this id, name or alias, in any case. A child is found by
    its id only."""
    same = next((thread for thread in state.threads.values() if thread.agent == name), None)
    if same is not None:
        return same
    folded_name = fold_name(name)
    exact = next((thread for thread in state.threads.values() if fold_name(thread.agent) == folded_name), None)
    if exact is not None:
        return exact
    return next(
        (
            thread
            for thread in state.threads.values()
            if thread.child is None and folded_name in (fold_name(thread.definition), *map(fold_name, thread.aliases))
        ),
        None,
    )


def require_agent(state: Session, name: str, field: str) -> Thread:
    """Return the thread of that agent.

    Raises:
        Refusal: `unknown_agent`.
    """
    thread = find_agent(state, name)
    if thread is None:
        agents = ", ".join(sorted(thread.agent for thread in state.threads.values()))
        raise Refusal(
            "unknown_agent", f"The session has no agent {name}.", field=field, hint=f"Its agents are: {agents}."
        )
    return thread


def find_or_join_agent(batch: Batch, name: str, sender: Thread, field: str) -> Thread:
    """Return the thread of the agent with this name. A defined main agent that is not in the
    session joins it.

    Raises:
        Refusal: `unknown_agent`.
    """
    thread = find_agent(batch.state, name)
    if thread is not None:
        return thread
    definition = batch.inputs.find_definition(name)
    if definition is None or definition.kind == "subagent":
        require_agent(batch.state, name, field)
        raise Refusal(
            "unknown_agent",
            f"{name} is a subagent, which only its parent can address.",
            field=field,
            hint="Name a main agent, or report to your parent.",
        )
    return join_session(batch, definition, sender)


def join_session(batch: Batch, definition: Definition, by: Thread) -> Thread:
    """Add an agent to the session for another agent. A background agent gets no wider mode than
    that agent has."""
    thread = batch.inputs.ids.new("thread")
    batch.add(build_thread_opened(definition, definition.name), Scope(agent=definition.name, thread=thread))
    if definition.kind == "background":
        begin_background(batch, batch.get_thread(thread), definition, resolve_modes(batch, by).permission_mode)
    return batch.get_thread(thread)


def build_thread_opened(definition: Definition, name: str) -> ThreadOpened:
    """Return the fact of an agent that joins under this name."""
    return ThreadOpened(
        agent_name=name,
        kind=definition.kind,
        definition=definition.name,
        definition_hash=definition.hash,
        role=definition.role,
        aliases=definition.aliases,
        edges=definition.edges,
        description=definition.description,
        color=definition.color,
        policy=definition.policy,
        url=definition.url,
    )


def require_child(state: Session, name: str, parent: Thread | None) -> tuple[Thread, Child]:
    """Return the child with this id. An agent can name its own children only.

    Raises:
        Refusal: `unknown_agent`, `not_your_child`.
    """
    thread = require_agent(state, name, "agent")
    if thread.child is None:
        raise Refusal(
            "not_your_child",
            f"{thread.agent} is not a subagent.",
            field="agent",
            hint="Find your subagents with list_subagents.",
        )
    if parent is not None and thread.child.parent != parent.thread:
        raise Refusal(
            "not_your_child",
            f"{thread.agent} works for another agent.",
            field="agent",
            hint="Find your subagents with list_subagents.",
        )
    if parent is not None and thread.child.job:
        raise Refusal(
            "not_your_child",
            f"{thread.agent} works on an item of a job.",
            field="agent",
            hint="Only a person can steer it. Use retry_job_item, pause_job or cancel_job.",
        )
    return thread, thread.child


def require_delegate(batch: Batch, parent: Thread, name: str) -> Definition:
    """Return the definition for a new child of this parent.

    Raises:
        Refusal: `subagent_spawns` (invariants 5 and 6), `policy_denied`, `delegate_target_denied`,
            `unknown_agent`.
    """
    if parent.child is not None:
        raise Refusal(
            "subagent_spawns",
            "A subagent cannot spawn or delegate: delegation is one level deep.",
            hint="Report the remaining work to your parent.",
        )
    parent_definition = batch.inputs.find_definition(parent.definition)
    definition = require_subagent(batch, name)
    if parent_definition is None or "Delegate" not in parent_definition.policy:
        raise Refusal(
            "policy_denied",
            f"{parent.agent} lacks the policy Delegate.",
            hint="Do the work yourself, or ask a person to add Delegate to `policy` of its definition.",
        )
    targets = parent_definition.delegate_targets
    if (
        targets is not None
        and fold_name(definition.name) not in map(fold_name, targets)
        and definition.made_by != parent_definition.name
    ):
        raise Refusal(
            "delegate_target_denied",
            f"{parent.agent} may not delegate to {definition.name}.",
            field="agent",
            hint=f"Its delegate_targets are: {', '.join(targets) or 'none'}.",
        )
    return definition


def require_subagent(batch: Batch, name: str) -> Definition:
    """Return the definition of that subagent.

    Raises:
        Refusal: `unknown_agent`; `delegate_target_denied` for an agent of another kind.
    """
    definition = batch.inputs.find_definition(name)
    if definition is None:
        raise Refusal(
            "unknown_agent",
            f"There is no definition {name}.",
            field="agent",
            hint=f"There are: {', '.join(batch.inputs.list_definition_names()) or 'none'}.",
        )
    if definition.kind != "subagent":
        raise Refusal(
            "delegate_target_denied",
            f"{definition.name} is of kind {definition.kind}, and only subagents accept delegated work.",
            field="agent",
            hint="Send it a message, or hand off to it.",
        )
    return definition


def resolve_modes(batch: Batch, thread: Thread) -> QueuedTurn:
    """Return the modes of an agent that gets work from another agent: those of its present or
    newest turn, or the lead's."""
    if thread.run is not None:
        return QueuedTurn(turn="", mode=thread.run.mode, permission_mode=thread.run.permission_mode)
    if thread.last is not None:
        return thread.last
    lead = batch.state.threads.get(batch.state.lead)
    if lead is not None and lead.thread != thread.thread:
        return resolve_modes(batch, lead)
    return QueuedTurn(turn="", mode="chat", permission_mode="ask")


def carry_mode(batch: Batch, thread: Thread, mode: PermissionMode) -> PermissionMode:
    """Return the permission mode in which an agent continues earlier work. It follows the present
    trust in the folder, unless a person chose the mode of its job."""
    job = batch.state.jobs.get(thread.child.job) if thread.child is not None else None
    return mode if job is not None and job.chosen else limit_carried_mode(batch.inputs, mode)
