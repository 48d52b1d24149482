"""Queries about background processes and the environment of commands."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.process import (
    ExecutionEnvironment,
    GetExecutionEnvironment,
    ListProcesses,
    ProcessList,
)
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.rows.process import ProcessRow
from callboard.control.state.agent_definitions import build_session_roster

from ..processes import Processes
from ..prompts.run_config import build_tool_context
from ..service import Service, answers
from ..session_registry import build_unknown_thread
from ..workspaces.context import WorkspaceContext

#: Characters of a running process's newest output.
OUTPUT_PREVIEW = 4000
_MAX_ROWS = 10_000


class ProcessReads(Service):
    """Answers process queries."""

    @answers(ListProcesses)
    async def list_processes(self, query: ListProcesses) -> ProcessList:
        """Return the processes of a session."""
        opened = await self._sessions.get(query.session_id)
        if query.thread_id is not None and query.thread_id not in opened.host.state.threads:
            raise build_unknown_thread(query.thread_id)
        await opened.views.wait_for(opened.host.state.sequence)
        await opened.views.flush()
        rows = await self._dependencies.store.rows.read_rows(query.session_id, "processes", limit=_MAX_ROWS)
        matching = [row for row in rows if isinstance(row, ProcessRow) and query.thread_id in (None, row.thread_id)]
        return ProcessList(processes=tuple(_add_output(opened.host.processes, row) for row in matching))

    @answers(GetExecutionEnvironment)
    async def get_environment(self, query: GetExecutionEnvironment) -> ExecutionEnvironment:
        """Return the environment of a command."""
        context = await self._find_context(query)
        if self._dependencies.shells is None:
            raise Refusal(
                "tool_failed",
                "Commands are not available in this process.",
                hint="Send it to a server that was started with `callboard`.",
            )
        return await self._dependencies.shells.describe_environment(context)

    async def _find_context(self, query: GetExecutionEnvironment) -> ToolContext:
        if query.session_id is not None:
            return await self._find_session_context(query.session_id, query.thread_id)
        if query.workspace_id is None:
            raise Refusal(
                "invalid_input",
                "get_execution_environment needs a session or a workspace.",
                field="sessionId",
                hint="Set sessionId or workspaceId.",
            )
        host = self._workspaces.get(query.workspace_id)
        host.require_folder()
        agent = self._dependencies.definitions.find_lead(host.context.folder)
        return _build_context(host.context, agent, "ask")

    async def _find_session_context(self, session: str, thread_id: str | None) -> ToolContext:
        host = (await self._sessions.get(session)).host
        thread = host.state.threads.get(thread_id or host.state.lead)
        if thread is None:
            raise build_unknown_thread(thread_id)
        if thread.run is not None:
            return await host.run_contexts.resolve_tool_context(thread.thread)
        roster = build_session_roster(self._dependencies.definitions.read_roster(host.workspace.folder), host.state)
        agent = roster.find(thread.definition) or self._dependencies.definitions.get(
            host.workspace.folder, thread.definition
        )
        mode = thread.last.permission_mode if thread.last is not None else "ask"
        context = _build_context(host.workspace, agent, mode)
        if thread.child is None:
            return context
        return msgspec.structs.replace(
            context,
            folder=thread.child.worktree or context.folder,
            parent_globs=thread.child.work_globs,
            read_only=thread.child.isolation == "read_only",
        )


def _build_context(workspace: WorkspaceContext, agent: Definition, mode: PermissionMode) -> ToolContext:
    base = build_tool_context(workspace.folder, agent, "chat", workspace.limit_mode(mode, agent))
    return msgspec.structs.replace(base, trusted=workspace.settings.trusted, shell=workspace.settings.shell)


def _add_output(processes: Processes, row: ProcessRow) -> ProcessRow:
    """Return the row with the newest output of a running process."""
    if row.state not in ("running", "stopping"):
        return row
    return msgspec.structs.replace(row, output=Text(text=processes.read_newest_output(row.process_id, OUTPUT_PREVIEW)))
