"""Merge of a child's worktree on request of a person.

The intent is a fact before git runs; its outcome is a fact after it.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.task import ChildMerged, MergeSubagent
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor, Scope
from callboard.control.decide.agent.addressing import require_child
from callboard.control.decide.subagent.child_scope import build_child_scope
from callboard.control.decide.subagent.worktree import MergeReported

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..service import Service, carries_out
from ..session_registry import SessionRegistry
from ..workspaces.registry import WorkspaceRegistry
from ..worktrees.worktree import merge_child

#: Number of files that the fact and the answer name.
MAX_FILES = 500


class WorktreeMerger(Service):
    """Merges on request of persons. A merge continues if its caller is cancelled."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._tasks = BackgroundTasks()

    @carries_out(MergeSubagent)
    async def merge(self, request: MergeSubagent, actor: Actor, stored_answer: StoredAnswer | None) -> ChildMerged:
        """Merge all changes of a child or none."""
        return await self._tasks.run(self._merge(request, actor, stored_answer))

    async def close(self) -> None:
        """Wait for the running merges, so that git is never interrupted."""
        await self._tasks.wait_all()

    async def _merge(self, request: MergeSubagent, actor: Actor, stored_answer: StoredAnswer | None) -> ChildMerged:
        host = (await self._sessions.get(request.session_id)).host
        await host.run_command(request, actor)
        thread, child = require_child(host.state, request.agent, None)
        outcome = await self._run_merge(request, build_child_scope(thread, child), thread.agent)
        failed = outcome.status == "failed"
        # A failure stores no answer: the same key can be tried again.
        opened = await self._sessions.get(request.session_id)
        answer = await opened.host.run_command(outcome, actor, None if failed else stored_answer)
        if not isinstance(answer, ChildMerged):
            raise TypeError(f"the session answered a merge with {type(answer).__name__}")
        if failed:
            raise Refusal(
                "merge_failed",
                outcome.message,
                field="agent",
                hint="Fix the cause, then merge again with merge_subagent.",
            )
        return answer

    async def _run_merge(self, request: MergeSubagent, scope: Scope, agent: str) -> MergeReported:
        host = (await self._sessions.get(request.session_id)).host
        merged = await merge_child(host, agent)
        outcome = MergeReported(session_id=request.session_id, scope=scope, status=merged.status)
        return msgspec.structs.replace(
            outcome,
            files=merged.files[:MAX_FILES],
            conflict=merged.conflict[:MAX_FILES],
            message=merged.message if merged.status in ("failed", "conflict") else "",
            changes=merged.changes,
            blobs=merged.blobs,
        )
