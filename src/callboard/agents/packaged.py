"""Packaged agent: the only agent of a folder without definitions, and the lead of a folder without a main agent."""

from __future__ import annotations

import hashlib
from functools import cache

import msgspec

from callboard.contracts.ports.agents import Definition, Roster

from .definition import load_definition
from .roster import build_roster
from .teams import SOLO, read_preset_files


@cache
def build_packaged_roster() -> Roster:
    """Return the roster of a folder without agents."""
    roster = build_roster((load_definition(source, name) for name, source in read_preset_files(SOLO)), packaged=True)
    definitions = tuple(msgspec.structs.replace(definition, file="") for definition in roster.definitions)
    return msgspec.structs.replace(roster, definitions=definitions)


@cache
def build_delegating_lead() -> Definition:
    """Return the packaged lead for a folder with other agents: it may delegate to them."""
    roster = build_packaged_roster()
    lead = next(definition for definition in roster.definitions if definition.name == roster.lead)
    policy = tuple(dict.fromkeys((*lead.policy, "Delegate")))
    hash = hashlib.sha256(f"{lead.hash} {' '.join(policy)}".encode()).hexdigest()
    return msgspec.structs.replace(lead, policy=policy, hash=hash)
