"""The scope of a fact: the entities that it concerns. The scope is in the header, so an erasure keeps it."""

from __future__ import annotations

from typing import Literal

import msgspec

ActorKind = Literal["person", "agent", "policy", "schedule", "runtime"]


class Actor(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The cause of a fact. `id` is the person's client, the agent or the policy; empty if the kind is enough."""

    kind: ActorKind
    id: str = ""


PERSON = Actor(kind="person")
RUNTIME = Actor(kind="runtime")
POLICY = Actor(kind="policy")
SCHEDULE = Actor(kind="schedule")


class Scope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Ids of the entities that a fact concerns; empty for none.

    `step` counts the ordered elements of a run from 1; 0 for none. Stored names are short because
    every fact has them; the wire has full names (`record.WireEvent`).
    """

    agent: str = msgspec.field(default="", name="g")
    thread: str = msgspec.field(default="", name="t")
    turn: str = msgspec.field(default="", name="u")
    run: str = msgspec.field(default="", name="r")
    step: int = msgspec.field(default=0, name="s")
    attempt: int = msgspec.field(default=0, name="n")
    tool_call: str = msgspec.field(default="", name="k")
    action: str = msgspec.field(default="", name="a")
    task: str = msgspec.field(default="", name="w")
    artifact: str = msgspec.field(default="", name="f")
    evidence: str = msgspec.field(default="", name="e")
    handoff: str = msgspec.field(default="", name="h")
    channel: str = msgspec.field(default="", name="ch")
    review: str = msgspec.field(default="", name="v")
    process: str = msgspec.field(default="", name="p")
    job: str = msgspec.field(default="", name="j")
    parent_session: str = msgspec.field(default="", name="ps")
    parent_thread: str = msgspec.field(default="", name="pt")
    parent_run: str = msgspec.field(default="", name="pr")


ScopeKey = Literal[
    "agent",
    "thread",
    "turn",
    "run",
    "step",
    "attempt",
    "tool_call",
    "action",
    "task",
    "artifact",
    "evidence",
    "handoff",
    "channel",
    "review",
    "process",
    "job",
    "parent_thread",
    "parent_run",
]
