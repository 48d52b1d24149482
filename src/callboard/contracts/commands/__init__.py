"""The table of commands: one row each, from which every surface is derived."""

from __future__ import annotations

from .actions import ActionAnswered, RespondAction
from .artifacts import ARTIFACT_TABLE
from .base import Answer, Authority, Command, Declaration, Serial
from .context import CONTEXT_TABLE
from .demos import DEMO_TABLE, StartDemo
from .evidence import EVIDENCE_TABLE
from .imports import ImportTurn, TurnImported
from .jobs import JOB_TABLE
from .models import MODEL_TABLE
from .past import PAST_TABLE
from .processes import PROCESS_TABLE
from .secrets import SECRETS_TABLE
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
from .settings import SETTINGS_TABLE
from .sizes import SIZE_TABLE
from .task_table import TASK_TABLE
from .team_table import TEAM_TABLE
from .tooling import TOOLING_TABLE
from .trust import TRUST_TABLE
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

TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="open_workspace",
        command=OpenWorkspace,
        answer=WorkspaceIsOpen,
        serial="store",
        summary="Open a folder as a workspace; opening it again gives the same one.",
    ),
    Declaration(
        name="submit_turn",
        command=SubmitTurn,
        answer=TurnAccepted,
        serial="session",
        authority="anyone",
        summary="Accept input, create or select the session, and start or queue a turn.",
    ),
    Declaration(
        name="steer_turn",
        command=SteerTurn,
        answer=SteerTaken,
        serial="session",
        summary="Give a running turn more input, to be part of its next model call.",
    ),
    Declaration(
        name="interrupt_turn",
        command=InterruptTurn,
        answer=ThreadChanged,
        serial="session",
        summary="Stop the running turn and keep or clear the queue behind it.",
    ),
    Declaration(
        name="resume_thread",
        command=ResumeThread,
        answer=ThreadChanged,
        serial="session",
        summary="Let a paused thread go on with its queue.",
    ),
    Declaration(
        name="respond_action",
        command=RespondAction,
        answer=ActionAnswered,
        serial="session",
        summary="Resolve a pending request; a second answer gets the first decision back.",
    ),
    Declaration(
        name="remove_queued_turn",
        command=RemoveQueuedTurn,
        answer=QueueChanged,
        serial="session",
        summary="Take a turn out of the queue.",
    ),
    Declaration(
        name="promote_queued_turn",
        command=PromoteQueuedTurn,
        answer=QueueChanged,
        serial="session",
        summary="Move a queued turn to the front.",
    ),
    Declaration(
        name="edit_queued_turn",
        command=EditQueuedTurn,
        answer=QueueChanged,
        serial="session",
        summary="Replace the input of a turn that has not started.",
    ),
    Declaration(
        name="update_session",
        command=UpdateSession,
        answer=SessionUpdated,
        serial="workspace",
        summary="Rename, pin or archive a session.",
    ),
    Declaration(
        name="delete_session",
        command=DeleteSession,
        answer=SessionGone,
        serial="workspace",
        summary="Delete a session with everything in it; the workspace keeps what its chain ended with.",
    ),
    Declaration(
        name="list_workspaces",
        command=ListWorkspaces,
        answer=WorkspaceList,
        serial="store",
        authority="anyone",
        query=True,
        summary="The workspaces that were opened.",
    ),
    Declaration(
        name="list_sessions",
        command=ListSessions,
        answer=SessionList,
        serial="workspace",
        authority="anyone",
        query=True,
        summary="The sessions of a workspace, newest first.",
    ),
    Declaration(
        name="get_session",
        command=GetSession,
        answer=SessionRead,
        serial="session",
        authority="anyone",
        query=True,
        summary="The shell of a session, its newest turns, its threads, and the cursor to follow from.",
    ),
    Declaration(
        name="get_thread_read",
        command=GetThreadRead,
        answer=ThreadRead,
        serial="session",
        authority="anyone",
        query=True,
        summary="A thread's status, pending requests, last outcome, incidents and queue.",
    ),
    Declaration(
        name="get_turns",
        command=GetTurns,
        answer=TurnList,
        serial="session",
        authority="anyone",
        query=True,
        summary="Older turns of a session.",
    ),
    Declaration(
        name="get_parts",
        command=GetParts,
        answer=PartList,
        serial="session",
        authority="anyone",
        query=True,
        summary="The parts of one turn.",
    ),
    Declaration(
        name="import_turn",
        command=ImportTurn,
        answer=TurnImported,
        serial="session",
        summary="Take over a past turn of another product into a session that is for reading.",
    ),
    *PAST_TABLE,
    *DEMO_TABLE,
    *EVIDENCE_TABLE,
    *TEAM_TABLE,
    *TASK_TABLE,
    *JOB_TABLE,
    *ARTIFACT_TABLE,
    *CONTEXT_TABLE,
    *SIZE_TABLE,
    *TRUST_TABLE,
    *SETTINGS_TABLE,
    *SECRETS_TABLE,
    *TOOLING_TABLE,
    *PROCESS_TABLE,
    *MODEL_TABLE,
)

COMMANDS: dict[str, Declaration] = {row.name: row for row in TABLE}

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
