"""Which facts make the runtime act. An effect is carried out only after the facts that name it are durable."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.commands.team import TEAM_TOOLS
from callboard.contracts.facts import (
    ActionRequired,
    HandoffRequested,
    ModelRequested,
    PermissionRuleAdded,
    Rule,
    SessionCreated,
    SubagentQueued,
    SubagentsAwaited,
    ToolStarted,
    TurnInterruptRequested,
)
from callboard.contracts.facts.turn import InterruptCause
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope


class AskModel(msgspec.Struct, frozen=True):
    """Ask the model that the fact names."""

    scope: Scope
    request: ModelRequested


class RunTool(msgspec.Struct, frozen=True):
    """Run the call."""

    scope: Scope


class StopRun(msgspec.Struct, frozen=True):
    """Stop what the run has under way, and report what was there."""

    scope: Scope
    cause: InterruptCause
    reason: str


class ExpireAction(msgspec.Struct, frozen=True):
    """Report the action as timed out at that time (microseconds since the epoch), should it still wait."""

    scope: Scope
    at: int


class WakeAt(msgspec.Struct, frozen=True):
    """Report at that time (microseconds since the epoch) that it has come: a wait or an awaited answer may be over."""

    at: int


class MakeWorktree(msgspec.Struct, frozen=True):
    """Make a git worktree for the child in the scope, and report it."""

    scope: Scope


class ListSession(msgspec.Struct, frozen=True):
    """Put the session on its workspace's list."""

    workspace: str
    title: str
    cause: str


class ShareRule(msgspec.Struct, frozen=True):
    """Make a rule of this session one of its workspace."""

    rule: Rule
    cause: str


Effect = AskModel | RunTool | StopRun | ExpireAction | WakeAt | MakeWorktree | ListSession | ShareRule


def effects(records: Iterable[Record]) -> list[Effect]:
    """What these facts make the runtime do, in their order."""
    found: list[Effect] = []
    for record in records:
        match record.fact:
            case ModelRequested() as fact:
                found.append(AskModel(record.scope, fact))
            case ToolStarted(tool=tool) if tool not in TEAM_TOOLS:
                found.append(RunTool(record.scope))
            case SubagentsAwaited() as fact if fact.until:
                found.append(WakeAt(fact.until))
            case HandoffRequested() as fact if fact.reply_by:
                found.append(WakeAt(fact.reply_by))
            case SubagentQueued(queue_reason="worktree"):
                found.append(MakeWorktree(record.scope))
            case TurnInterruptRequested() as fact:
                found.append(StopRun(record.scope, fact.cause, fact.reason))
            case ActionRequired() as fact if fact.expires_at:
                found.append(ExpireAction(record.scope, fact.expires_at))
            case SessionCreated() as fact:
                found.append(ListSession(fact.workspace_id, fact.title, record.event_id))
            case PermissionRuleAdded(rule=rule) if rule.scope == "workspace":
                found.append(ShareRule(rule, record.event_id))
            case _:
                pass
    return found
