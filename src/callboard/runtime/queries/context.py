"""Queries about context: the context of a run, and mention candidates."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from callboard.contracts.commands.context import (
    ContextRead,
    FindMentions,
    GetContext,
    Mention,
    MentionList,
    QuotedInput,
)
from callboard.contracts.content import MAX_INLINE_BYTES, PREVIEW, BlobRef, Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import CompactionCompleted
from callboard.contracts.facts.queue import QueueEdited, SteerRequested
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.context import ContextRow
from callboard.control.state.session import Session
from callboard.tools.gate.rules import Target, find_rule

from ..service import Service, answers
from ..session_registry import OpenSession, build_unknown_thread
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import build_person_context


class ContextReads(Service):
    """Answers context queries."""

    @answers(GetContext)
    async def get_context(self, query: GetContext) -> ContextRead:
        """Return the context of a thread."""
        opened = await self._sessions.get(query.session_id)
        state = opened.host.state
        thread = state.threads.get(query.thread_id or state.owner or state.lead)
        if thread is None:
            raise build_unknown_thread(query.thread_id)
        await opened.views.wait_for(state.sequence)
        row = next((item for item in opened.views.rows(ContextRow) if item.thread_id == thread.thread), None)
        row = row or ContextRow(key=thread.thread, order=0, sequence=0, thread_id=thread.thread, pinned=thread.pinned)
        compaction = await self._read_compaction(opened, thread.context_usage.at)
        return ContextRead(
            session_id=state.session,
            thread_id=thread.thread,
            context=row,
            text=None if query.ref is None else await self._read_ref(row, query.ref),
            summary=compaction.summary if compaction is not None else None,
            compacted=thread.context_usage.compacted,
            said=()
            if compaction is None
            else tuple([item async for item in self._read_excerpts(state.session, compaction)]),
            head=state.sequence,
        )

    async def _read_ref(self, row: ContextRow, ref: str) -> Text | None:
        context_ref = next((candidate for candidate in row.refs if candidate.ref == ref), None)
        if context_ref is None:
            raise Refusal(
                "context_missing",
                f"The newest run has no context {ref}.",
                field="ref",
                hint="Find its contexts in context.refs.",
            )
        if context_ref.content is None or context_ref.kind in ("image", "binary"):
            return None
        return await self._read(context_ref.content)

    async def _read(self, content: BlobRef) -> Text:
        if content.size <= MAX_INLINE_BYTES:
            data = await self._dependencies.store.blobs.get(content.hash)
            return Text(erased=True) if data is None else Text(text=data.decode("utf-8", "replace"))
        head = await self._dependencies.store.blobs.get_range(content.hash, offset=0, length=PREVIEW)
        return Text(erased=True) if head is None else Text(text=head.decode("utf-8", "ignore"), ref=content)

    async def _read_compaction(self, opened: OpenSession, at: int) -> CompactionCompleted | None:
        if not at:
            return None
        record = await self._read_fact(opened.host.state.session, at)
        return record.fact if record is not None and isinstance(record.fact, CompactionCompleted) else None

    async def _read_excerpts(self, session: str, compaction: CompactionCompleted) -> AsyncIterator[QuotedInput]:
        for excerpt in compaction.said:
            record = await self._read_fact(session, excerpt.sequence)
            if record is None:
                continue
            fact = record.fact
            is_input = isinstance(fact, TurnSubmitted | QueueEdited | SteerRequested)
            text = fact.input if is_input else Text(erased=True)
            yield QuotedInput(sequence=excerpt.sequence, turn_id=record.scope.turn, size=excerpt.size, text=text)

    async def _read_fact(self, session: str, sequence: int) -> Record | None:
        records = await self._dependencies.store.facts.read(session, after=sequence - 1, until=sequence, limit=1)
        return records[0] if records else None

    @answers(FindMentions)
    async def find_mentions(self, query: FindMentions) -> MentionList:
        """Return matching agents and artifacts, then files and folders, then past sessions."""
        workspace = self._workspaces.get(query.workspace_id).context
        state = (await self._sessions.get(query.session_id)).host.state if query.session_id is not None else None
        text = query.text.strip().strip('"')
        mentions = [
            *self._find_agents(workspace, text),
            *_find_artifacts(state, text),
            *await self._find_files(workspace, state, text, query.limit),
        ]
        mentions += _find_sessions(workspace, query.session_id, text)
        return MentionList(mentions=tuple(mentions[: query.limit]), complete=len(mentions) <= query.limit)

    def _find_agents(self, workspace: WorkspaceContext, text: str) -> Iterator[Mention]:
        for definition in self._dependencies.definitions.read_roster(workspace.folder).definitions:
            if text.casefold() in definition.name.casefold():
                yield Mention(
                    kind="agent", ref=definition.name, insert=f"@{definition.name}", title=definition.description
                )

    async def _find_files(
        self, workspace: WorkspaceContext, state: Session | None, text: str, limit: int
    ) -> list[Mention]:
        context = build_person_context(workspace, state, self._dependencies.clock.now())
        paths = await self._dependencies.toolbox.find_paths(text, context, limit)
        folders = dict.fromkeys(
            folder for path in paths for folder in _list_parents(path) if text.casefold() in folder.casefold()
        )
        readable = [folder for folder in folders if find_rule(context.rules, Target(tool="Read", path=folder)) is None]
        files = [Mention(kind="file", ref=path, insert=_format_mention(path)) for path in paths]
        return [
            *(
                Mention(kind="folder", ref=folder, insert=_format_mention(f"{folder}/"))
                for folder in sorted(readable, key=len)
            ),
            *files,
        ]


def _list_parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _format_mention(path: str) -> str:
    plain = path.isascii() and not set(path) & set(" \t\"'`<>()[]{},;|") and not path.endswith((".", ":", "!", "?"))
    return f"@{path}" if plain else f'@"{path}"'


def _find_artifacts(state: Session | None, text: str) -> Iterator[Mention]:
    for key, artifact in state.artifacts.open.items() if state is not None else ():
        name = artifact.title or artifact.path
        if text.casefold() in name.casefold() or key.startswith(text):
            yield Mention(kind="artifact", ref=key, insert=f"@{key}", title=name)


def _find_sessions(workspace: WorkspaceContext, current: str | None, text: str) -> list[Mention]:
    newest = sorted(workspace.sessions.values(), key=lambda session: session.session, reverse=True)
    return [
        Mention(kind="session", ref=session.session, insert=f"@{session.session}", title=session.title)
        for session in newest
        if session.session != current
        and (text.casefold() in session.title.casefold() or session.session.startswith(text))
    ]
