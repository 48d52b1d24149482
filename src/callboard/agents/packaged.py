"""The agent that comes with the package: that of a folder without agents, and the lead of one without a main agent."""

from __future__ import annotations

import hashlib
from functools import cache

import msgspec

from callboard.contracts.ports.agents import Definition, Roster

from .definition import load_definition
from .roster import build_roster
from .teams import SOLO, preset_files


@cache
def packaged_roster() -> Roster:
    """The roster of a folder without agents."""
    found = build_roster((load_definition(source, name) for name, source in preset_files(SOLO)), packaged=True)
    alone = tuple(msgspec.structs.replace(one, file="") for one in found.definitions)
    return msgspec.structs.replace(found, definitions=alone)


@cache
def delegating_lead() -> Definition:
    """Return the packaged lead as that of a folder which defines only other agents: it may give them work."""
    alone = packaged_roster()
    lead = next(one for one in alone.definitions if one.name == alone.lead)
    policy = tuple(dict.fromkeys((*lead.policy, "Delegate")))
    changed = hashlib.sha256(f"{lead.hash} {' '.join(policy)}".encode()).hexdigest()
    return msgspec.structs.replace(lead, policy=policy, hash=changed)
