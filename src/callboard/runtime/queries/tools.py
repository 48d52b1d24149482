"""What a person reads of tools: which an agent has and why not, and how the servers stand that bring some."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.tooling import (
    GetToolInventory,
    ListServers,
    ReconnectServer,
    ServerAnswer,
    ServerList,
    ToolInventory,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import ToolContext
from callboard.control.state.session import Session, Thread

from ..dependencies import Dependencies
from ..prompts.run_config import RunConfigBuilder, folder_context
from ..session_registry import OpenSession, SessionRegistry
from ..workspaces.registry import WorkspaceRegistry


class ToolReads:
    """Reads of tools and their servers. To tell of tools the servers are connected to, within their bound."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._run_configs = RunConfigBuilder(dependencies)

    async def answer(self, query: GetToolInventory | ListServers) -> ToolInventory | ServerList:
        """The answer of a query. Raises Refusal `invalid_input`, `unknown_session`, `unknown_thread`, `unknown_workspace`,
        `unknown_agent`."""
        if isinstance(query, ListServers):
            return ServerList(servers=self._dependencies.toolbox.list_servers(self._of_workspace(query.workspace_id)))
        context = await self._context(query)
        await self._dependencies.toolbox.prepare(context, whole=True)
        return ToolInventory(
            agent=context.agent,
            tools=self._dependencies.toolbox.list_tools(context),
            servers=self._dependencies.toolbox.list_servers(context),
        )

    async def reconnect(self, command: ReconnectServer) -> ServerAnswer:
        """The server after that. Raises Refusal `unknown_workspace`, `unknown_server`."""
        context = self._of_workspace(command.workspace_id)
        return ServerAnswer(server=await self._dependencies.toolbox.reconnect(context, command.server))

    def _of_workspace(self, workspace: str) -> ToolContext:
        self._workspaces.get(workspace)
        return folder_context(self._workspaces.context(workspace))

    async def _context(self, query: GetToolInventory) -> ToolContext:
        if query.session_id is not None:
            found = await self._sessions.get(query.session_id)
            thread = found.host.state.threads.get(query.thread_id or found.host.state.lead)
            if thread is None:
                raise Refusal(
                    "unknown_thread",
                    f"The session has no thread {query.thread_id}.",
                    field="threadId",
                    hint="get_session names the threads.",
                )
            return await self._of_thread(found, thread)
        if query.workspace_id is None:
            raise Refusal(
                "invalid_input",
                "An inventory is of a session's thread or of a workspace's agent.",
                field="workspaceId",
                hint="Give sessionId or workspaceId.",
            )
        self._workspaces.get(query.workspace_id)
        workspace = self._workspaces.context(query.workspace_id)
        return self._run_configs.preview_context(workspace, query.agent, "chat", "ask", Session(session=""))

    async def _of_thread(self, found: OpenSession, thread: Thread) -> ToolContext:
        host = found.host
        if thread.run is not None:
            return await host.run_contexts.tool_context(thread.thread)
        last = thread.last
        mode, permitted = (last.mode, last.permission_mode) if last is not None else ("chat", "ask")
        context = self._run_configs.preview_context(host.workspace, thread.definition, mode, permitted, host.state)
        if thread.child is None:
            return context
        reads = thread.child.isolation == "read_only"
        return msgspec.structs.replace(context, parent_globs=thread.child.work_globs, read_only=reads)
