"""What an agent is told of its team: the tools that could mean something to it, and whom it can turn to."""

from __future__ import annotations

from callboard.contracts.commands.team_tools import ASK_PERSON, MERGE, PROPOSE_PLAN, TEAM_TOOLS
from callboard.contracts.ports.agents import Definition, Roster, folded

_DELEGATING = tuple(tool.name for tool in TEAM_TOOLS.values() if tool.policy == "Delegate")
_MAKING = {tool.name: tool.capability for tool in TEAM_TOOLS.values() if tool.capability is not None}
_ASKING = (PROPOSE_PLAN, ASK_PERSON)
_BOARD = ("create_task", "update_task")
_SPEAKING = ("send_message", "request_review", "submit_verdict")


def team_tools(agent: Definition, roster: Roster) -> tuple[str, ...]:
    """The tools of a team that could mean something to this agent: to one that is alone those that ask the person."""
    others = _others(agent, roster)
    found: list[str] = [*_ASKING]
    if agent.kind == "subagent":
        return ("send_handoff", "send_message", "submit_verdict", *_ASKING)
    found += [name for name, capability in _MAKING.items() if capability in agent.capabilities]
    if "Delegate" in agent.policy and (_targets(agent, roster) or "spawn" in agent.capabilities):
        found += [*_DELEGATING, *((MERGE,) if "Patch" in agent.policy else ()), "submit_verdict", *_BOARD]
    if _leads_to(agent, roster) or "edge" in agent.capabilities:
        found += ["send_handoff", "respond_handoff"]
    if others or "spawn" in agent.capabilities:
        found += [*_SPEAKING, *_BOARD]
    return tuple(dict.fromkeys(found))


def describe_team(agent: Definition, roster: Roster) -> str:
    """What the prompt says of the team; nothing to an agent that is alone."""
    if agent.kind == "subagent":
        return (
            "You are a subagent: you work for the agent that gave you your objective, and speak to it only. Your final answer "
            "is your result; send_handoff tells your parent something before that."
        )
    said: list[str] = []
    if "Delegate" in agent.policy and (targets := _targets(agent, roster)):
        said.append("Give objectives to children with spawn_subagent. You can make them from:")
        said += [_line(one) for one in targets]
    if reached := _leads_to(agent, roster):
        said.append("Hand work off with send_handoff. Edges lead to:")
        said += [_line(one) for one in reached]
    if others := _others(agent, roster):
        said.append("Write with send_message to:")
        said += [_line(one) for one in others]
    return "\n".join(said)


def _targets(agent: Definition, roster: Roster) -> list[Definition]:
    named = None if agent.delegate_targets is None else {folded(name) for name in agent.delegate_targets}
    return [
        one
        for one in roster.definitions
        if one.kind == "subagent" and (named is None or folded(one.name) in named or one.made_by == agent.name)
    ]


def _others(agent: Definition, roster: Roster) -> list[Definition]:
    return [one for one in roster.definitions if one.kind != "subagent" and one.name != agent.name]


def _leads_to(agent: Definition, roster: Roster) -> list[Definition]:
    out = {folded(edge.to) for edge in agent.edges}
    back = {
        folded(one.name)
        for one in roster.definitions
        if any(edge.direction == "both" and folded(edge.to) == folded(agent.name) for edge in one.edges)
    }
    return [one for one in roster.definitions if folded(one.name) in out | back]


def _line(one: Definition) -> str:
    return f"- {one.name}: {one.description}" if one.description else f"- {one.name}"
