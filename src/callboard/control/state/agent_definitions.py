"""Agents of a session: those of its folder, and those made for it."""

from __future__ import annotations

import hashlib

import msgspec

from callboard.contracts.ports.agents import Definition, Roster, fold_name

from .session import Session


def build_session_roster(roster: Roster, state: Session) -> Roster:
    """Return the folder's roster with the agents and edges of the session. A session's agent takes
    precedence over a later file with its name."""
    if not state.defined_agents and not state.edges:
        return roster
    own_names = {fold_name(definition.name) for definition in state.defined_agents}
    agents = (
        *state.defined_agents,
        *(definition for definition in roster.definitions if fold_name(definition.name) not in own_names),
    )
    digest = hashlib.sha256(msgspec.json.encode((roster.hash, state.defined_agents, state.edges))).hexdigest()
    return msgspec.structs.replace(
        roster, definitions=tuple(_with_edges(definition, state) for definition in agents), hash=digest
    )


def _with_edges(agent: Definition, state: Session) -> Definition:
    added = tuple(edge.edge for edge in state.edges if fold_name(edge.source) == fold_name(agent.name))
    return msgspec.structs.replace(agent, edges=tuple(dict.fromkeys((*agent.edges, *added)))) if added else agent
