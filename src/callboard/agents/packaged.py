"""The agent that comes with the package: that of a folder without agents, and the lead of one without a main agent."""

from __future__ import annotations

import hashlib
from functools import cache

import msgspec

from callboard.contracts.ports.agents import Definition, Roster

from .definition import read
from .roster import roster
from .teams import SOLO, sources


@cache
def packaged() -> Roster:
    """The roster of a folder without agents."""
    found = roster((read(source, name) for name, source in sources(SOLO)), packaged=True)
    alone = tuple(msgspec.structs.replace(one, file="") for one in found.definitions)
    return msgspec.structs.replace(found, definitions=alone)


@cache
def delegating_lead() -> Definition:
    """Return the packaged lead as that of a folder which defines only other agents: it may give them work."""
    alone = packaged()
    lead = next(one for one in alone.definitions if one.name == alone.lead)
    policy = tuple(dict.fromkeys((*lead.policy, "Delegate")))
    changed = hashlib.sha256(f"{lead.hash} {' '.join(policy)}".encode()).hexdigest()
    return msgspec.structs.replace(lead, policy=policy, hash=changed)
