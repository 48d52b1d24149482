"""An agent's team tools, and its instructions about the team."""

from __future__ import annotations

from callboard.contracts.ports.agents import Definition, Roster, fold_name
from callboard.contracts.team_tools import ASK_PERSON, MERGE, PROPOSE_PLAN, TEAM_TOOLS

_DELEGATION_TOOLS = tuple(tool.name for tool in TEAM_TOOLS.values() if tool.policy == "Delegate")
_CREATION_TOOLS = {tool.name: tool.capability for tool in TEAM_TOOLS.values() if tool.capability is not None}
_PERSON_TOOLS = (PROPOSE_PLAN, ASK_PERSON)
_TASK_TOOLS = ("create_task", "update_task")
_MESSAGE_TOOLS = ("send_message", "request_review", "submit_verdict")


def list_team_tools(agent: Definition, roster: Roster) -> tuple[str, ...]:
    """Return the team tools that the agent can use. An agent without a team can only ask the person."""
    others = _list_others(agent, roster)
    tools: list[str] = [*_PERSON_TOOLS]
    if agent.kind == "subagent":
        return ("send_handoff", "send_message", "submit_verdict", *_PERSON_TOOLS)
    tools += [name for name, capability in _CREATION_TOOLS.items() if capability in agent.capabilities]
    if "Delegate" in agent.policy and (_list_spawnable(agent, roster) or "spawn" in agent.capabilities):
        tools += [*_DELEGATION_TOOLS, *((MERGE,) if "Patch" in agent.policy else ()), "submit_verdict", *_TASK_TOOLS]
    if _list_reachable(agent, roster) or "edge" in agent.capabilities:
        tools += ["send_handoff", "respond_handoff"]
    if others or "spawn" in agent.capabilities:
        tools += [*_MESSAGE_TOOLS, *_TASK_TOOLS]
    return tuple(dict.fromkeys(tools))


def describe_team(agent: Definition, roster: Roster) -> str:
    """Return the prompt's text about the team; empty for an agent without a team."""
    if agent.kind == "subagent":
        return (
            "You are a subagent. You work for the agent that gave you your objective, and you can message only that agent. "
            "Your final answer is your result. Before that, you can send your parent news with send_handoff."
        )
    lines: list[str] = []
    if "Delegate" in agent.policy and (targets := _list_spawnable(agent, roster)):
        lines.append("Delegate objectives to children with spawn_subagent. Available definitions:")
        lines += [_format_line(definition) for definition in targets]
    if reached := _list_reachable(agent, roster):
        lines.append("Hand off work with send_handoff. Possible receivers:")
        lines += [_format_line(definition) for definition in reached]
    if others := _list_others(agent, roster):
        lines.append("Send messages with send_message. Possible receivers:")
        lines += [_format_line(definition) for definition in others]
    return "\n".join(lines)


def _list_spawnable(agent: Definition, roster: Roster) -> list[Definition]:
    allowed = None if agent.delegate_targets is None else {fold_name(name) for name in agent.delegate_targets}
    return [
        definition
        for definition in roster.definitions
        if definition.kind == "subagent"
        and (allowed is None or fold_name(definition.name) in allowed or definition.made_by == agent.name)
    ]


def _list_others(agent: Definition, roster: Roster) -> list[Definition]:
    return [
        definition
        for definition in roster.definitions
        if definition.kind != "subagent" and definition.name != agent.name
    ]


def _list_reachable(agent: Definition, roster: Roster) -> list[Definition]:
    out = {fold_name(edge.to) for edge in agent.edges}
    back = {
        fold_name(definition.name)
        for definition in roster.definitions
        if any(edge.direction == "both" and fold_name(edge.to) == fold_name(agent.name) for edge in definition.edges)
    }
    return [definition for definition in roster.definitions if fold_name(definition.name) in out | back]


def _format_line(definition: Definition) -> str:
    return f"- {definition.name}: {definition.description}" if definition.description else f"- {definition.name}"
