"""The fold of facts into the state that deciders read.

Each entity has a module. Its `apply` matches the facts of its family, and the type checker proves that none is missing.
A test proves that no family is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import msgspec

from callboard.contracts.erased import with_erased_form
from callboard.contracts.facts.action import ActionFact
from callboard.contracts.facts.agent import AgentFact
from callboard.contracts.facts.artifact import ArtifactFact
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.context import ContextFact
from callboard.contracts.facts.evidence import EvidenceFact
from callboard.contracts.facts.exchange.channel import ChannelFact
from callboard.contracts.facts.exchange.handoff import HandoffFact
from callboard.contracts.facts.exchange.inbox import InboxFact
from callboard.contracts.facts.exchange.review import ReviewFact
from callboard.contracts.facts.job import JobFact
from callboard.contracts.facts.message import MessageFact
from callboard.contracts.facts.model import ModelFact
from callboard.contracts.facts.permission import PermissionFact
from callboard.contracts.facts.plan import PlanFact
from callboard.contracts.facts.process import ProcessFact
from callboard.contracts.facts.queue import QueueFact
from callboard.contracts.facts.session import SessionFact
from callboard.contracts.facts.subagent import SubagentFact
from callboard.contracts.facts.task import TaskFact
from callboard.contracts.facts.tool import ToolFact
from callboard.contracts.facts.turn import TurnFact
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope

from ..state.session import Session
from . import (
    action,
    agent,
    artifact,
    background_agent,
    context,
    job,
    message,
    model,
    permission,
    process,
    queue,
    session,
    subagent,
    task,
    tool,
    turn,
)
from .exchange import channel, handoff, inbox, review
from .fact_context import FactContext


def evolve(state: Session, record: Record) -> Session:
    """Return the state after a record. An erased fact keeps its shape: an entity that it ended stays ended."""
    record = with_erased_form(record)
    return apply(state, record.fact, record.scope, record.sequence, record.header.at, record.header.epoch)


def apply(state: Session, fact: Fact, scope: Scope, sequence: int, at: int, epoch: int) -> Session:
    """Return the state after a fact. An unreadable fact changes only the sequence, the time and the epoch."""
    if fact.readable:
        fact_context = FactContext(scope=scope, epoch=epoch, at=at, sequence=sequence)
        state = context.count_context(state, fact, fact_context)
        change = CHANGES.get(type(fact))
        if change is not None:
            state = change(state, fact, fact_context)
        if state.sleepers:
            state = background_agent.update_sleepers(state, fact, fact_context)
    return msgspec.structs.replace(state, sequence=sequence, at=at, epoch=epoch)


def _skip(state: Session, fact: EvidenceFact, context: FactContext) -> Session:
    """Return the state unchanged: packs of evidence are about the log, not about the session."""
    return state


Change = Callable[[Session, Any, FactContext], Session]


def _map_types(*families: tuple[Any, Change]) -> dict[type[Fact], Change]:
    """Return the function of each family's facts by their type."""
    return {fact: change for family, change in families for fact in get_args(family) or (family,)}


#: The function that applies each type of fact. A lookup takes less time than a chain of `isinstance`.
CHANGES = _map_types(
    (SessionFact, session.apply),
    (AgentFact, agent.apply),
    (TurnFact, turn.apply),
    (QueueFact, queue.apply),
    (MessageFact, message.apply),
    (PlanFact, message.apply),
    (ToolFact, tool.apply),
    (PermissionFact, permission.apply),
    (ProcessFact, process.apply),
    (ActionFact, action.apply),
    (ModelFact, model.apply),
    (SubagentFact, subagent.apply),
    (HandoffFact, handoff.apply),
    (ChannelFact, channel.apply),
    (InboxFact, inbox.apply),
    (TaskFact, task.apply),
    (JobFact, job.apply),
    (ReviewFact, review.apply),
    (EvidenceFact, _skip),
    (ArtifactFact, artifact.apply),
    (ContextFact, context.apply),
)
