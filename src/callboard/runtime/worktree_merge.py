"""A person's merge of what a child did in its worktree: the intent is a fact before git runs, and what came of it is one
behind it."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.tasks import MergeDone, MergeSubagent
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor, Scope
from callboard.control.decide.agent.addressing import require_child
from callboard.control.decide.subagent.child_scope import child_scope
from callboard.control.decide.subagent.worktree import MergeReported

from .background_tasks import BackgroundTasks
from .session_registry import SessionRegistry
from .worktrees.worktree import merge_child

#: How many files the fact and the answer name.
MOST_FILES = 500


class WorktreeMerger:
    """Merges on behalf of persons. One that was begun is told of, also where its asker goes away."""

    def __init__(self, sessions: SessionRegistry) -> None:
        self._sessions = sessions
        self._tasks = BackgroundTasks()

    async def merge(self, request: MergeSubagent, actor: Actor, stored_answer: StoredAnswer | None) -> MergeDone:
        """Merges all of it or nothing. Raises Refusal `unknown_session`, `unknown_agent`, `not_your_child`, `thread_busy`, and
        `merge_failed` where there is no worktree or git merged nothing for another reason than a conflict."""
        return await self._tasks.run(self._merge(request, actor, stored_answer))

    async def wait_settled(self) -> None:
        """Waits for the merges under way: git is not left half way."""
        await self._tasks.wait_all()

    async def _merge(self, request: MergeSubagent, actor: Actor, stored_answer: StoredAnswer | None) -> MergeDone:
        host = (await self._sessions.get(request.session_id)).host
        await host.run_command(request, actor)
        thread, child = require_child(host.state, request.agent, None)
        made = await self._made(request, child_scope(thread, child), thread.agent)
        failed = made.status == "failed"
        # A refusal is not kept: asked again with its key, it is tried again.
        found = await self._sessions.get(request.session_id)
        answer = await found.host.run_command(made, actor, None if failed else stored_answer)
        if not isinstance(answer, MergeDone):
            raise TypeError(f"a merge was answered with {type(answer).__name__}")
        if failed:
            raise Refusal("merge_failed", made.message, field="agent")
        return answer

    async def _made(self, request: MergeSubagent, scope: Scope, agent: str) -> MergeReported:
        host = (await self._sessions.get(request.session_id)).host
        merged = await merge_child(host, agent)
        made = MergeReported(session_id=request.session_id, scope=scope, status=merged.status)
        return msgspec.structs.replace(
            made,
            files=merged.files[:MOST_FILES],
            conflict=merged.conflict[:MOST_FILES],
            message=merged.message if merged.status in ("failed", "conflict") else "",
            changes=merged.changes,
            blobs=merged.blobs,
        )
