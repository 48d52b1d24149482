"""The commands: each is declared once, and every surface derives from its declaration."""

from __future__ import annotations

from . import (
    actions,
    agents,
    artifacts,
    context,
    demos,
    evidence,
    imports,
    jobs,
    models,
    past,
    processes,
    secrets,
    sessions,
    settings,
    sizes,
    tasks,
    team,
    tooling,
    trust,
    turns,
)
from .actions import ActionAnswered, RespondAction
from .base import COMMANDS, Answer, Authority, Command, Declaration, Serial
from .demos import StartDemo
from .imports import ImportTurn, TurnImported
from .sessions import (
    DeleteSession,
    GetParts,
    GetSession,
    GetThreadRead,
    GetTurns,
    Incident,
    ListSessions,
    ListWorkspaces,
    OpenWorkspace,
    PartList,
    SessionGone,
    SessionList,
    SessionRead,
    SessionUpdated,
    ThreadRead,
    TurnList,
    UpdateSession,
    WorkspaceIsOpen,
    WorkspaceList,
)
from .turns import (
    EditQueuedTurn,
    InterruptTurn,
    PromoteQueuedTurn,
    QueueChanged,
    RemoveQueuedTurn,
    ResumeThread,
    SteerTaken,
    SteerTurn,
    SubmitTurn,
    ThreadChanged,
    TurnAccepted,
)

_FAMILIES = (
    *(sessions, turns, actions, agents, team, tasks, jobs, artifacts, context, trust, settings, secrets, models),
    *(tooling, processes, evidence, sizes, past, imports, demos),
)
#: Every command: the families in their order, the commands of each in the order of declaration.
TABLE: tuple[Declaration, ...] = tuple(
    row for family in _FAMILIES for row in COMMANDS.values() if row.command.__module__ == family.__name__
)

__all__ = [
    "COMMANDS",
    "TABLE",
    "ActionAnswered",
    "Answer",
    "Authority",
    "Command",
    "Declaration",
    "DeleteSession",
    "EditQueuedTurn",
    "GetParts",
    "GetSession",
    "GetThreadRead",
    "GetTurns",
    "ImportTurn",
    "Incident",
    "InterruptTurn",
    "ListSessions",
    "ListWorkspaces",
    "OpenWorkspace",
    "PartList",
    "PromoteQueuedTurn",
    "QueueChanged",
    "RemoveQueuedTurn",
    "RespondAction",
    "ResumeThread",
    "Serial",
    "SessionGone",
    "SessionList",
    "SessionRead",
    "SessionUpdated",
    "StartDemo",
    "SteerTaken",
    "SteerTurn",
    "SubmitTurn",
    "ThreadChanged",
    "ThreadRead",
    "TurnAccepted",
    "TurnImported",
    "TurnList",
    "UpdateSession",
    "WorkspaceIsOpen",
    "WorkspaceList",
]
