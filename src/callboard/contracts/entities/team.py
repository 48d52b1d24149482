"""Words of a team that facts, commands, definitions and rows share."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

#: What an agent is for (Subagents specification, SubagentSnapshot).
Role = Literal["planner", "researcher", "writer", "reviewer", "executor", "custom"]
#: What an agent's definition allows it to do (Multi-agent runtime specification, Hard invariants, 9).
Policy = Literal["Patch", "Finalize", "Delegate"]
#: `spawn` makes agents that no file defines, `edge` makes edges that no file names; each use still takes an approval.
Capability = Literal["spawn", "edge"]
#: How far a child is kept apart: it works in the parent's folder within its globs, may not write, or has a git worktree of
#: its own that the parent merges.
Isolation = Literal["shared", "read_only", "worktree"]
#: `to` carries from the agent that declares the edge, `both` either way.
EdgeDirection = Literal["to", "both"]
#: A `handoff` may pass work on and transfer ownership; a `report` tells.
EdgeKind = Literal["handoff", "report"]
#: Why a worker waits: its parent runs as many as it may, its provider does, or its worktree is being made.
QueueReason = Literal["parallel_budget", "provider_budget", "worktree"]
#: The life of a team (Agent UI specification, Task, Agent, And Team State).
TeamPhase = Literal["forming", "active", "waiting", "merging", "done"]
#: What a child came to for those who wait for it.
ChildStatus = Literal["queued", "running", "waiting", "completed", "failed", "cancelled"]
#: A reviewer's judgement.
Verdict = Literal["passed", "changes_requested", "failed"]
#: A task on the board (Agent UI specification, Work item).
TaskStatus = Literal["open", "claimed", "running", "blocked", "reviewing", "done", "cancelled"]
#: What a task is to others (Agent UI specification, Runtime execution alignment).
TaskEntity = Literal["work_item", "automation_job", "external_task"]
#: A task of an agent elsewhere, as that end told it (Agent UI specification, Remote teammate task); `unknown` where it did not.
RemoteTaskState = Literal[
    "submitted", "working", "input_required", "auth_required", "completed", "failed", "canceled", "rejected", "unknown"
]
#: An agent of kind background (Agent UI specification, Background job). `scheduled` is before its first run.
BackgroundState = Literal[
    "scheduled", "sleeping", "waking", "running", "blocked", "paused", "failed", "completed", "unknown"
]

AgentName = Annotated[str, Meta(min_length=1, max_length=64)]
Globs = tuple[Annotated[str, Meta(min_length=1, max_length=400)], ...]


class Edge(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An allowed path from the agent that declares it to `to` (Communication specification, Communication model).

    `confirm` makes every handoff over it wait for an answer; `ownership` lets one over it move the ownership of the session.
    """

    to: AgentName
    direction: EdgeDirection = "to"
    kind: EdgeKind = "handoff"
    confirm: bool = False
    ownership: bool = False


class Ref(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A pointer that travels instead of content: `type` says to what, such as diff, file or evidence."""

    type: Annotated[str, Meta(min_length=1, max_length=64)]
    ref: Annotated[str, Meta(min_length=1, max_length=1000)]


class WorkUsage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a piece of work took: tokens, milliseconds, model calls and tool calls."""

    input_tokens: int = 0
    output_tokens: int = 0
    duration_ms: int = 0
    model_calls: int = 0
    tool_calls: int = 0
