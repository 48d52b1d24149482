"""Vocabulary of teams, for facts, commands, definitions and rows."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

#: Role of an agent (Subagents specification, SubagentSnapshot).
Role = Literal["planner", "researcher", "writer", "reviewer", "executor", "custom"]
#: Permissions of an agent's definition (Multi-agent runtime specification, Hard invariants, 9).
Policy = Literal["Patch", "Finalize", "Delegate"]
#: `spawn` creates agents without a file, `edge` adds edges without a file. Each use requires
#: approval.
Capability = Literal["spawn", "edge"]
#: Isolation of a child: it works in the parent's folder within its globs, writes nothing, or has
#: its own git worktree, which the parent merges.
Isolation = Literal["shared", "read_only", "worktree"]
#: `to` leads from the declaring agent to the other, `both` in both directions.
EdgeDirection = Literal["to", "both"]
#: A `handoff` can pass on work and transfer ownership; a `report` only reports.
EdgeKind = Literal["handoff", "report"]
#: Why a worker waits: the limit of its parent, the limit of its provider, or its worktree is being
#: created.
QueueReason = Literal["parallel_budget", "provider_budget", "worktree"]
#: Phase of a team (Agent UI specification, Task, Agent, And Team State).
TeamPhase = Literal["forming", "active", "waiting", "merging", "done"]
#: Status of a child for agents that wait for it.
ChildStatus = Literal["queued", "running", "waiting", "completed", "failed", "cancelled"]
#: A reviewer's verdict.
Verdict = Literal["passed", "changes_requested", "failed"]
#: Status of a task on the board (Agent UI specification, Work item).
TaskStatus = Literal["open", "claimed", "running", "blocked", "reviewing", "done", "cancelled"]
#: Kind of a task (Agent UI specification, Runtime execution alignment).
TaskEntity = Literal["work_item", "automation_job", "external_task"]
#: State of a remote agent's task as it reported it (Agent UI specification, Remote teammate task);
#: `unknown` without a report.
RemoteTaskState = Literal[
    "submitted", "working", "input_required", "auth_required", "completed", "failed", "canceled", "rejected", "unknown"
]
#: State of a background agent (Agent UI specification, Background job). `scheduled` is before its
#: first run.
BackgroundState = Literal[
    "scheduled", "sleeping", "waking", "running", "blocked", "paused", "failed", "completed", "unknown"
]

AgentName = Annotated[str, Meta(min_length=1, max_length=64)]
Globs = tuple[Annotated[str, Meta(min_length=1, max_length=400)], ...]


class Edge(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An allowed path from the declaring agent to `to` (Communication specification, Communication model).

    With `confirm` each handoff over it requires acceptance. With `ownership` a handoff over it may
    transfer the ownership of the session.
    """

    to: AgentName
    direction: EdgeDirection = "to"
    kind: EdgeKind = "handoff"
    confirm: bool = False
    ownership: bool = False


class Ref(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A pointer to content. `type` is the type of the content, such as diff, file or evidence."""

    type: Annotated[str, Meta(min_length=1, max_length=64)]
    ref: Annotated[str, Meta(min_length=1, max_length=1000)]


class WorkUsage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Usage of a piece of work: tokens, milliseconds, model calls and tool calls."""

    input_tokens: int = 0
    output_tokens: int = 0
    duration_ms: int = 0
    model_calls: int = 0
    tool_calls: int = 0
