"""Agents and edges that agents define: with the capability, a person's approval, and within the
creator's bounds."""

from __future__ import annotations

import hashlib

import msgspec

from callboard.contracts.commands.agent import AddEdgeArguments, AgentCreated, DefineAgentArguments, EdgeCreated
from callboard.contracts.content import MAX_INLINE_BYTES
from callboard.contracts.entities.team import Capability, Edge
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.agent import AgentDefined, EdgeAdded
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition, fold_name
from callboard.contracts.scope import Scope
from callboard.contracts.tool_names import to_model_name, to_stored_name

from ...batch import Batch, build_run_scope, build_thread_scope
from ...decision_inputs import narrow_mode
from ...state.session import Thread
from .addressing import find_agent

_LACKS: dict[Capability, str] = {"spawn": "define agents", "edge": "add edges"}


def define_agent(batch: Batch, creator: Thread, request: DefineAgentArguments) -> AgentCreated:
    """Define an agent for this session.

    Raises:
        Refusal: `subagent_spawns`, `capability_missing`, `agent_exists`, `tool_not_listed`,
            `policy_denied`, `path_denied`, `mode_denied`, `message_too_large`.
    """
    definition = build_definition(batch, creator, request)
    batch.add(
        AgentDefined(name=definition.name, definition=batch.store_text(_encode(definition))), _build_scope(creator)
    )
    return AgentCreated(
        session_id=batch.state.session,
        agent=definition.name,
        kind=request.kind,
        work_globs=definition.work_globs,
        permission_mode=definition.permission_mode,
        sequence=batch.state.sequence,
    )


def add_edge(batch: Batch, creator: Thread, request: AddEdgeArguments) -> EdgeCreated:
    """Add an edge for this session.

    Raises:
        Refusal: `subagent_spawns`, `capability_missing`, `unknown_agent`, `agent_to_itself`,
            `subagents_do_not_talk`, `ownership_not_allowed`, `edge_exists`.
    """
    source, edge = build_edge(batch, creator, request)
    batch.add(EdgeAdded(source=source, edge=edge), _build_scope(creator))
    return EdgeCreated(session_id=batch.state.session, source=source, edge=edge, sequence=batch.state.sequence)


def build_definition(batch: Batch, creator: Thread, request: DefineAgentArguments) -> Definition:
    """Return the requested agent within its creator's bounds."""
    creator_definition = _require_capability(batch, creator, "spawn")
    if batch.inputs.find_definition(request.name) is not None or find_agent(batch.state, request.name) is not None:
        raise Refusal(
            "agent_exists", f"The agent {request.name} already exists.", field="name", hint="Choose another name."
        )
    _check_tools(creator_definition, request)
    _check_policy(creator_definition, request)
    definition = Definition(
        name=request.name,
        description=request.description.strip(),
        kind=request.kind,
        prompt=request.prompt.strip(),
        hash="",
        model=request.model.strip(),
        tools=tuple(dict.fromkeys(map(to_stored_name, request.tools))),
        policy=tuple(dict.fromkeys(request.policy)),
        delegate_targets=creator_definition.delegate_targets if "Delegate" in request.policy else None,
        permission_mode=_narrow_requested_mode(creator_definition, request),
        work_globs=_check_globs(creator_definition, request),
        max_iters=creator_definition.max_iters,
        made_by=creator_definition.name,
    )
    definition = msgspec.structs.replace(definition, hash=hashlib.sha256(_encode(definition).encode()).hexdigest())
    if len(_encode(definition).encode()) > MAX_INLINE_BYTES:
        raise Refusal(
            "message_too_large",
            f"An agent defined in a session can have at most {MAX_INLINE_BYTES} bytes.",
            field="prompt",
            hint="Write long instructions to a file, and name it in the prompt.",
        )
    return definition


def build_edge(batch: Batch, creator: Thread, request: AddEdgeArguments) -> tuple[str, Edge]:
    """Return the requested edge and the name of its source agent. An edge lifts no invariant."""
    _require_capability(batch, creator, "edge")
    source = _require_edge_end(batch, request.source or creator.agent, "source")
    target = _require_edge_end(batch, request.to, "to")
    if source.name == target.name:
        raise Refusal(
            "agent_to_itself",
            "An edge must lead to another agent.",
            field="to",
            hint="Set `to` to another agent than `source`.",
        )
    if request.kind == "report" and request.ownership:
        raise Refusal(
            "ownership_not_allowed",
            "An edge of kind report cannot move ownership.",
            field="ownership",
            hint="Leave out ownership, or set kind to handoff.",
        )
    edge = Edge(
        to=target.name,
        direction=request.direction,
        kind=request.kind,
        confirm=request.confirm,
        ownership=request.ownership,
    )
    if _has_edge(source, target) or (edge.direction == "both" and _has_edge(target, source)):
        raise Refusal(
            "edge_exists",
            f"An edge between {source.name} and {target.name} already exists.",
            field="to",
            hint="Use the existing edge.",
        )
    return source.name, edge


def _require_capability(batch: Batch, creator: Thread, capability: Capability) -> Definition:
    if creator.child is not None:
        raise Refusal("subagent_spawns", "A subagent cannot define agents or add edges.", hint="Report to your parent.")
    definition = batch.inputs.find_definition(creator.definition)
    if definition is None or capability not in definition.capabilities:
        raise Refusal(
            "capability_missing",
            f"{creator.agent} cannot {_LACKS[capability]}: its definition lacks the capability {capability}.",
            hint=f"A person can add `capabilities: [{capability}]` to its file.",
        )
    return definition


def _check_tools(creator: Definition, request: DefineAgentArguments) -> None:
    missing = [tool for tool in request.tools if to_stored_name(tool) not in creator.tools]
    if missing and "*" not in creator.tools:
        raise Refusal(
            "tool_not_listed",
            f"{creator.name} does not have these tools of {request.name}: {', '.join(map(to_model_name, missing))}.",
            field="tools",
            hint=f"{creator.name} has: {', '.join(map(to_model_name, creator.tools)) or 'none'}.",
        )


def _check_policy(creator: Definition, request: DefineAgentArguments) -> None:
    missing = [policy for policy in request.policy if policy not in creator.policy]
    if missing:
        raise Refusal(
            "policy_denied",
            f"{creator.name} does not have this policy of {request.name}: {', '.join(missing)}.",
            field="policy",
            hint=f"{creator.name} has: {', '.join(creator.policy) or 'none'}.",
        )
    if request.kind == "subagent" and "Delegate" in request.policy:
        raise Refusal("policy_denied", "A subagent cannot delegate.", field="policy", hint="Remove Delegate.")


def _narrow_requested_mode(creator: Definition, request: DefineAgentArguments) -> PermissionMode | None:
    requested, widest = request.permission_mode, creator.permission_mode
    if requested is None:
        return widest
    if narrow_mode(requested, widest) != requested:
        raise Refusal(
            "mode_denied",
            f"The mode {requested} of {request.name} is wider than {creator.name}'s mode {widest}.",
            field="permissionMode",
            hint=f"Use {widest} or a narrower mode, or leave permissionMode out.",
        )
    return requested


def _check_globs(creator: Definition, request: DefineAgentArguments) -> tuple[str, ...]:
    outside = [glob for glob in request.work_globs if creator.work_globs and not _is_within(glob, creator.work_globs)]
    if outside:
        raise Refusal(
            "path_denied",
            f"{creator.name} cannot write to these paths of {request.name}: {', '.join(outside)}.",
            field="workGlobs",
            hint=f"Use one of {', '.join(creator.work_globs)}, or a pattern below one that ends in **.",
        )
    return request.work_globs or creator.work_globs


def _is_within(glob: str, bounds: tuple[str, ...]) -> bool:
    """Return True if every path of the pattern is within the bounds: the pattern is a bound, or
    lies below the folder of one."""
    if ".." in glob:
        return False
    return any(
        glob == bound or (bound.endswith("**") and glob.startswith(bound[:-2]) and _is_plain_folder(bound[:-2]))
        for bound in bounds
    )


def _is_plain_folder(folder: str) -> bool:
    return not folder or (folder.endswith("/") and not any(sign in folder for sign in "*?[{\\"))


def _require_edge_end(batch: Batch, name: str, field: str) -> Definition:
    """Return the agent at an end of an edge. A subagent cannot be one."""
    thread = find_agent(batch.state, name)
    definition = batch.inputs.find_definition(name if thread is None else thread.definition)
    if definition is None:
        names = ", ".join(batch.inputs.list_definition_names())
        raise Refusal("unknown_agent", f"There is no agent {name}.", field=field, hint=f"There are: {names or 'none'}.")
    if definition.kind == "subagent":
        raise Refusal(
            "subagents_do_not_talk",
            f"{name} is a subagent. It speaks with its parent only, which needs no edge.",
            field=field,
            hint="Name a main agent.",
        )
    return definition


def _has_edge(source: Definition, target: Definition) -> bool:
    """Return True if an edge already leads from source to target."""
    forward = any(fold_name(edge.to) == fold_name(target.name) for edge in source.edges)
    back = any(edge.direction == "both" and fold_name(edge.to) == fold_name(source.name) for edge in target.edges)
    return forward or back


def _build_scope(creator: Thread) -> Scope:
    return build_run_scope(creator, creator.run) if creator.run is not None else build_thread_scope(creator)


def _encode(definition: Definition) -> str:
    return msgspec.json.encode(definition).decode()
