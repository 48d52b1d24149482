"""The registry of facts: the union of the families, and each type by its wire tag."""

from __future__ import annotations

from typing import get_args

from .action import ActionFact
from .agent import AgentFact
from .artifact import ArtifactFact
from .base import Fact
from .context import ContextFact
from .evidence import EvidenceFact
from .exchange.channel import ChannelFact
from .exchange.handoff import HandoffFact
from .exchange.inbox import InboxFact
from .exchange.review import ReviewFact
from .job import JobFact
from .message import MessageFact
from .model import ModelFact
from .permission import PermissionFact, PermissionRuleAdded, PermissionRuleRevoked
from .plan import PlanFact
from .process import ProcessFact
from .queue import QueueFact
from .session import ErrorRaised, SessionFact, WarningRaised
from .subagent import SubagentFact
from .task import TaskFact
from .tool import ToolFact
from .turn import TurnFact
from .workspace import WorkspaceFact

#: Every fact that a session's stream may hold.
AnySessionFact = (
    SessionFact
    | AgentFact
    | TurnFact
    | QueueFact
    | MessageFact
    | PlanFact
    | ToolFact
    | PermissionFact
    | ProcessFact
    | ActionFact
    | ModelFact
    | SubagentFact
    | HandoffFact
    | ChannelFact
    | InboxFact
    | TaskFact
    | JobFact
    | ReviewFact
    | EvidenceFact
    | ArtifactFact
    | ContextFact
)
#: Every fact that a workspace's stream may hold.
AnyWorkspaceFact = WorkspaceFact | PermissionRuleAdded | PermissionRuleRevoked | WarningRaised | ErrorRaised

_FACT_TYPES: set[type[Fact]] = set(get_args(AnySessionFact)) | set(get_args(AnyWorkspaceFact))

#: Each fact type by its wire tag, in the order of the tags.
FACTS: dict[str, type[Fact]] = {fact.type: fact for fact in sorted(_FACT_TYPES, key=lambda fact: fact.type)}
