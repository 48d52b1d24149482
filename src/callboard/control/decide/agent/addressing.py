"""Who is meant by a name, and who may ask what of whom (Multi-agent runtime specification, Hard invariants)."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ThreadOpened
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition, folded
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...decision_inputs import limit_carried_mode
from ...state.session import Child, QueuedTurn, Session, Thread
from ..turn.sleep import begin_background


def find_agent(state: Session, name: str) -> Thread | None:
    """The thread of the agent that this id, name or alias reaches, in any case; never a child
    by its definition's name."""
    same = next((one for one in state.threads.values() if one.agent == name), None)
    if same is not None:
        return same
    wanted = folded(name)
    exact = next((one for one in state.threads.values() if folded(one.agent) == wanted), None)
    if exact is not None:
        return exact
    return next(
        (
            one
            for one in state.threads.values()
            if one.child is None and wanted in (folded(one.definition), *map(folded, one.aliases))
        ),
        None,
    )


def require_agent(state: Session, name: str, field: str) -> Thread:
    """The thread of that agent. Raises `unknown_agent`."""
    found = find_agent(state, name)
    if found is None:
        there = ", ".join(sorted(one.agent for one in state.threads.values()))
        raise Refusal(
            "unknown_agent", f"The session has no agent {name}.", field=field, hint=f"Its agents are: {there}."
        )
    return found


def require_main_agent(batch: Batch, name: str, sender: Thread, field: str) -> Thread:
    """The main agent that the name reaches; one that is not in the session yet joins it. Raises `unknown_agent`."""
    found = find_agent(batch.state, name)
    if found is not None:
        return found
    definition = batch.inputs.find_definition(name)
    if definition is None or definition.kind == "subagent":
        require_agent(batch.state, name, field)
        raise Refusal("unknown_agent", f"{name} is a subagent: it works for one parent.", field=field)
    return join_session(batch, definition, sender)


def join_session(batch: Batch, definition: Definition, by: Thread) -> Thread:
    """An agent joins the session, at the word of another one. One that wakes by itself does so under no wider mode than that
    one works under."""
    thread = batch.inputs.ids.new("thread")
    batch.add(build_thread_opened(definition, definition.name), Scope(agent=definition.name, thread=thread))
    if definition.kind == "background":
        begin_background(batch, batch.thread(thread), definition, resolve_modes(batch, by).permission_mode)
    return batch.thread(thread)


def build_thread_opened(definition: Definition, name: str) -> ThreadOpened:
    """The fact of an agent that joins under this name."""
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
    """The child of that id. Raises `unknown_agent`, and `not_your_child` where an agent asks for another one's."""
    thread = require_agent(state, name, "agent")
    if thread.child is None:
        raise Refusal("not_your_child", f"{thread.agent} is no subagent.", field="agent")
    if parent is not None and thread.child.parent != parent.thread:
        raise Refusal("not_your_child", f"{thread.agent} works for another agent.", field="agent")
    if parent is not None and thread.child.job:
        raise Refusal("not_your_child", f"{thread.agent} works on an item of a job.", field="agent")
    return thread, thread.child


def require_delegate(batch: Batch, parent: Thread, name: str) -> Definition:
    """The definition that a child of this parent is made from.

    Raises `subagent_spawns` (invariants 5 and 6), `policy_denied`, `delegate_target_denied`, `unknown_agent`.
    """
    if parent.child is not None:
        raise Refusal(
            "subagent_spawns",
            "A subagent spawns nothing and delegates nothing: delegation is one level deep.",
            hint="Report to your parent what is left to do.",
        )
    own = batch.inputs.find_definition(parent.definition)
    definition = require_subagent(batch, name)
    if own is None or "Delegate" not in own.policy:
        raise Refusal("policy_denied", f"{parent.agent} lacks the policy Delegate.")
    targets = own.delegate_targets
    if targets is not None and folded(definition.name) not in map(folded, targets) and definition.made_by != own.name:
        raise Refusal(
            "delegate_target_denied",
            f"{parent.agent} may not delegate to {definition.name}.",
            field="agent",
            hint=f"Its delegate_targets are: {', '.join(targets) or 'none'}.",
        )
    return definition


def require_subagent(batch: Batch, name: str) -> Definition:
    """The definition of that subagent. Raises `unknown_agent`, `delegate_target_denied` for an agent of another kind."""
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
            f"{definition.name} is of kind {definition.kind}: work is delegated to subagents.",
            field="agent",
            hint="Send it a message, or hand off to it.",
        )
    return definition


def resolve_modes(batch: Batch, thread: Thread) -> QueuedTurn:
    """The modes that an agent works under when another one gives it work: those of its present or newest turn, or the
    lead's."""
    if thread.run is not None:
        return QueuedTurn(turn="", mode=thread.run.mode, permission_mode=thread.run.permission_mode)
    if thread.last is not None:
        return thread.last
    lead = batch.state.threads.get(batch.state.lead)
    if lead is not None and lead.thread != thread.thread:
        return resolve_modes(batch, lead)
    return QueuedTurn(turn="", mode="chat", permission_mode="ask")


def carry_mode(batch: Batch, thread: Thread, mode: PermissionMode) -> PermissionMode:
    """The permission mode in which an agent goes on with what it was given before: as trust in the folder stands now, but for
    one that a person chose for its job."""
    job = batch.state.jobs.get(thread.child.job) if thread.child is not None else None
    return mode if job is not None and job.chosen else limit_carried_mode(batch.inputs, mode)
