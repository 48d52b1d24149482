"""Queries about tools and tool servers."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.tool import (
    GetToolInventory,
    ListServers,
    ReconnectServer,
    ServerChanged,
    ServerList,
    ToolInventory,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import ToolContext
from callboard.control.state.session import Session, Thread

from ..dependencies import Dependencies
from ..prompts.run_config import RunConfigBuilder, build_folder_context
from ..service import Service, answers
from ..session_registry import OpenSession, SessionRegistry, build_unknown_thread
from ..workspaces.registry import WorkspaceRegistry


class ToolReads(Service):
    """Answers tool queries. A tool inventory connects to the servers, within their time limit."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._run_configs = RunConfigBuilder(dependencies)

    @answers(ListServers)
    async def list_servers(self, query: ListServers) -> ServerList:
        """Return the tool servers of a workspace."""
        return ServerList(
            servers=self._dependencies.toolbox.list_servers(self._build_workspace_context(query.workspace_id))
        )

    @answers(GetToolInventory)
    async def get_inventory(self, query: GetToolInventory) -> ToolInventory:
        """Return the tools of an agent."""
        context = await self._find_context(query)
        await self._dependencies.toolbox.prepare(context, whole=True)
        return ToolInventory(
            agent=context.agent,
            tools=self._dependencies.toolbox.list_tools(context),
            servers=self._dependencies.toolbox.list_servers(context),
        )

    @answers(ReconnectServer)
    async def reconnect(self, command: ReconnectServer) -> ServerChanged:
        """Reconnect a server and return its state."""
        context = self._build_workspace_context(command.workspace_id)
        return ServerChanged(server=await self._dependencies.toolbox.reconnect(context, command.server))

    def _build_workspace_context(self, workspace: str) -> ToolContext:
        self._workspaces.get(workspace)
        return build_folder_context(self._workspaces.context(workspace))

    async def _find_context(self, query: GetToolInventory) -> ToolContext:
        if query.session_id is not None:
            opened = await self._sessions.get(query.session_id)
            thread = opened.host.state.threads.get(query.thread_id or opened.host.state.lead)
            if thread is None:
                raise build_unknown_thread(query.thread_id)
            return await self._find_thread_context(opened, thread)
        if query.workspace_id is None:
            raise Refusal(
                "invalid_input",
                "get_tool_inventory needs a session or a workspace.",
                field="workspaceId",
                hint="Set sessionId or workspaceId.",
            )
        self._workspaces.get(query.workspace_id)
        workspace = self._workspaces.context(query.workspace_id)
        return self._run_configs.build_preview_context(workspace, query.agent, "chat", "ask", Session(session=""))

    async def _find_thread_context(self, opened: OpenSession, thread: Thread) -> ToolContext:
        host = opened.host
        if thread.run is not None:
            return await host.run_contexts.resolve_tool_context(thread.thread)
        last = thread.last
        mode, permitted = (last.mode, last.permission_mode) if last is not None else ("chat", "ask")
        context = self._run_configs.build_preview_context(
            host.workspace, thread.definition, mode, permitted, host.state
        )
        if thread.child is None:
            return context
        is_read_only = thread.child.isolation == "read_only"
        return msgspec.structs.replace(context, parent_globs=thread.child.work_globs, read_only=is_read_only)
