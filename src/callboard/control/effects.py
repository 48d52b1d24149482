"""Effects of facts: what the runtime does once they are durable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentSlept
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.exchange.handoff import HandoffRequested
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.permission import PermissionRuleAdded, Rule
from callboard.contracts.facts.process import ProcessInputGiven, ProcessStopRequested
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.facts.subagent import SubagentCancelled, SubagentClosed, SubagentQueued, SubagentsAwaited
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.facts.turn import InterruptCause, TurnInterruptRequested
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.contracts.team_tools import MERGE, TEAM_TOOLS

from .state.session import Session


class AskModel(msgspec.Struct, frozen=True, gc=False):
    """Call the model that the fact names."""

    scope: Scope
    request: ModelRequested


class RunTool(msgspec.Struct, frozen=True, gc=False):
    """Run the tool call."""

    scope: Scope


class StopRun(msgspec.Struct, frozen=True, gc=False):
    """Stop what the run has in progress, then report its partial output."""

    scope: Scope
    cause: InterruptCause
    reason: str


class ExpireAction(msgspec.Struct, frozen=True, gc=False):
    """Report the action as expired at `at` (microseconds since the epoch) if it is still pending."""

    scope: Scope
    at: int


class WakeAt(msgspec.Struct, frozen=True, gc=False):
    """Report the time `at` (microseconds since the epoch). A wait, a reply or a sleeping agent is due then."""

    at: int


class MakeWorktree(msgspec.Struct, frozen=True, gc=False):
    """Make a git worktree for the child in the scope, and report it."""

    scope: Scope


class RemoveWorktree(msgspec.Struct, frozen=True, gc=False):
    """Remove the worktree of a closed child if no work is lost; otherwise report that it remains."""

    scope: Scope
    path: str
    branch: str
    base: str


class SettleArtifact(msgspec.Struct, frozen=True, gc=False):
    """Read the file of a save that an earlier process began, and report it."""

    artifact: str


class ListSession(msgspec.Struct, frozen=True, gc=False):
    """Add the session to the list of its workspace."""

    workspace: str
    title: str
    cause: str


class ScheduleSession(msgspec.Struct, frozen=True, gc=False):
    """Record in the workspace whether agents of the session sleep until a time."""

    cause: str


class ShareRule(msgspec.Struct, frozen=True, gc=False):
    """Add a rule of this session to its workspace."""

    rule: Rule
    cause: str


class WriteProcess(msgspec.Struct, frozen=True, gc=False):
    """Write to the process in the scope."""

    scope: Scope
    text: str
    end: bool


class EndProcesses(msgspec.Struct, frozen=True, gc=False):
    """End the process in the scope, or all processes of its thread if the scope names none."""

    scope: Scope


Effect = (
    AskModel
    | RunTool
    | StopRun
    | ExpireAction
    | WakeAt
    | MakeWorktree
    | RemoveWorktree
    | SettleArtifact
    | ListSession
    | ScheduleSession
    | ShareRule
    | WriteProcess
    | EndProcesses
)
FactT = TypeVar("FactT", bound=Fact)
Derive = Callable[[Record, Any], list[Effect]]


def derive_effects(records: Iterable[Record], *, imported: bool = False) -> list[Effect]:
    """Return the effects of these facts in order. The facts of an imported session happened in another product, so
    they only list the session."""
    if imported:
        return [effect for effect in derive_effects(records) if isinstance(effect, ListSession)]
    effects: list[Effect] = []
    for record in records:
        derive = _EFFECTS.get(type(record.fact))
        if derive is not None:
            effects += derive(record, record.fact)
    return effects


def _derive_sleep(record: Record, fact: AgentSlept) -> list[Effect]:
    schedule = ScheduleSession(record.event_id)
    return [WakeAt(fact.wake_at), schedule] if fact.wake_at else [schedule]


def _derive_close(record: Record, fact: SubagentClosed) -> list[Effect]:
    end = EndProcesses(record.scope)
    return [end, RemoveWorktree(record.scope, fact.worktree, fact.branch, fact.base)] if fact.worktree else [end]


def _derive_tool(record: Record, fact: ToolStarted) -> list[Effect]:
    return [RunTool(record.scope)] if fact.tool not in TEAM_TOOLS or fact.tool == MERGE else []


def _derive_worktree(record: Record, fact: SubagentQueued) -> list[Effect]:
    return [MakeWorktree(record.scope)] if fact.queue_reason == "worktree" else []


def _derive_expiry(record: Record, fact: ActionRequired) -> list[Effect]:
    return [ExpireAction(record.scope, fact.expires_at)] if fact.expires_at else []


def _derive_sharing(record: Record, fact: PermissionRuleAdded) -> list[Effect]:
    return [ShareRule(fact.rule, record.event_id)] if fact.rule.scope == "workspace" else []


def _pair(kind: type[FactT], derive: Callable[[Record, FactT], list[Effect]]) -> tuple[type[Fact], Derive]:
    """Pair a type of fact with the function of its effects, so that the type checker compares them."""
    return kind, derive


#: The function that derives the effects of each type of fact. Most types have none: a lookup takes less time than a match.
_EFFECTS: dict[type[Fact], Derive] = dict(
    (
        _pair(ModelRequested, lambda record, fact: [AskModel(record.scope, fact)]),
        _pair(ToolStarted, _derive_tool),
        _pair(AgentSlept, _derive_sleep),
        _pair(SubagentsAwaited, lambda _, fact: [WakeAt(fact.until)] if fact.until else []),
        _pair(HandoffRequested, lambda _, fact: [WakeAt(fact.reply_by)] if fact.reply_by else []),
        _pair(SubagentQueued, _derive_worktree),
        _pair(SubagentCancelled, lambda record, _: [EndProcesses(record.scope)]),
        _pair(SubagentClosed, _derive_close),
        _pair(ProcessInputGiven, lambda record, fact: [WriteProcess(record.scope, fact.text.text, fact.end)]),
        _pair(ProcessStopRequested, lambda record, _: [EndProcesses(record.scope)]),
        _pair(TurnInterruptRequested, lambda record, fact: [StopRun(record.scope, fact.cause, fact.reason)]),
        _pair(ActionRequired, _derive_expiry),
        _pair(SessionCreated, lambda record, fact: [ListSession(fact.workspace_id, fact.title, record.event_id)]),
        _pair(PermissionRuleAdded, _derive_sharing),
    )
)


def has_sleeping_agents(state: Session) -> bool:
    """Return whether an agent of the session has a schedule. Its times apply while the session is closed."""
    backgrounds = (thread.background for thread in state.threads.values() if thread.background is not None)
    return any(background.schedule and not background.is_ended for background in backgrounds)


def derive_pending_effects(state: Session) -> list[Effect]:
    """Return the effects that are still due in a session that is opened again."""
    effects: list[Effect] = []
    for thread in state.threads.values():
        for call in thread.run.calls if thread.run is not None else ():
            if call.action and call.expires_at:
                effects.append(ExpireAction(Scope(thread=thread.thread, action=call.action), call.expires_at))
            if call.awaits and call.until:
                effects.append(WakeAt(call.until))
        background = thread.background
        if background is not None:
            if background.wake_at:
                effects.append(WakeAt(background.wake_at))
            effects.append(ScheduleSession(f"{state.session}/{background.slept_sequence}"))
    effects.extend(WakeAt(handoff.reply_by) for handoff in state.handoffs.values() if handoff.reply_by)
    effects.extend(SettleArtifact(artifact) for artifact in state.artifacts.saves)
    effects.extend(ShareRule(forwarded.rule, forwarded.cause) for forwarded in state.forwarded_rules)
    return effects
