"""The fold of facts into the state that deciders read.

Each entity has a module. Its `apply` matches the facts of its family, and the type checker proves that none is missing.
"""

from __future__ import annotations

from typing import assert_type, cast

import msgspec

from callboard.contracts.erased import with_erased_form
from callboard.contracts.facts import AnySessionFact
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
        state = _apply(state, cast("AnySessionFact", fact), fact_context)
        if state.sleepers:
            state = background_agent.update_sleepers(state, fact, fact_context)
    return msgspec.structs.replace(state, sequence=sequence, at=at, epoch=epoch)


def _apply(state: Session, fact: AnySessionFact, fact_context: FactContext) -> Session:
    if isinstance(fact, ModelFact):
        return model.apply(state, fact, fact_context)
    if isinstance(fact, ToolFact):
        return tool.apply(state, fact, fact_context)
    if isinstance(fact, MessageFact | PlanFact):
        return message.apply(state, fact, fact_context)
    if isinstance(fact, TurnFact):
        return turn.apply(state, fact, fact_context)
    if isinstance(fact, PermissionFact):
        return permission.apply(state, fact, fact_context)
    if isinstance(fact, ActionFact):
        return action.apply(state, fact, fact_context)
    if isinstance(fact, QueueFact):
        return queue.apply(state, fact, fact_context)
    if isinstance(fact, SubagentFact):
        return subagent.apply(state, fact, fact_context)
    if isinstance(fact, HandoffFact):
        return handoff.apply(state, fact, fact_context)
    if isinstance(fact, ChannelFact):
        return channel.apply(state, fact, fact_context)
    if isinstance(fact, InboxFact):
        return inbox.apply(state, fact, fact_context)
    if isinstance(fact, TaskFact):
        return task.apply(state, fact, fact_context)
    if isinstance(fact, ReviewFact):
        return review.apply(state, fact, fact_context)
    if isinstance(fact, JobFact):
        return job.apply(state, fact, fact_context)
    if isinstance(fact, AgentFact):
        return agent.apply(state, fact, fact_context)
    if isinstance(fact, ProcessFact):
        return process.apply(state, fact, fact_context)
    if isinstance(fact, ArtifactFact):
        return artifact.apply(state, fact, fact_context)
    if isinstance(fact, ContextFact):
        return context.apply(state, fact, fact_context)
    if isinstance(fact, SessionFact):
        return session.apply(state, fact, fact_context)
    assert_type(fact, EvidenceFact)
    return state
