"""The reads of context: what a run was given, what a text behind an @ may mean, and how much room all of it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from callboard.contracts.commands.context import ContextRead, FindMentions, GetContext, Mention, MentionList, SaidRead
from callboard.contracts.commands.sizes import ListSizes, SizeList
from callboard.contracts.content import LARGEST_INLINE, PREVIEW, BlobRef, Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import CompactionCompleted, QueueEdited, SteerRequested, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows import ContextRow
from callboard.control.state.session import Session
from callboard.tools.gate.rules import Target, find_rule

from ..dependencies import Dependencies
from ..session_registry import OpenSession, SessionRegistry
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import person_context
from ..workspaces.registry import WorkspaceRegistry
from .sizes import measure_sizes


class ContextReads:
    """Answers the queries of context."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces

    async def answer(self, query: GetContext | FindMentions | ListSizes) -> ContextRead | MentionList | SizeList:
        """The answer of a query. Raises Refusal."""
        match query:
            case GetContext():
                return await self._context(query)
            case FindMentions():
                return await self._mentions(query)
            case ListSizes():
                return await measure_sizes(self._dependencies.store.facts)

    async def _context(self, query: GetContext) -> ContextRead:
        """Raises `unknown_session`, `unknown_thread`, `context_missing` for a ref that was not given."""
        found = await self._sessions.get(query.session_id)
        state = found.host.state
        thread = state.threads.get(query.thread_id or state.owner or state.lead)
        if thread is None:
            raise Refusal(
                "unknown_thread",
                f"The session has no thread {query.thread_id}.",
                field="threadId",
                hint="See get_session.",
            )
        await found.views.wait_for(max(state.sequence, found.first_sequence))
        row = next((one for one in found.views.rows(ContextRow) if one.thread_id == thread.thread), None)
        row = row or ContextRow(key=thread.thread, order=0, sequence=0, thread_id=thread.thread, pinned=thread.pinned)
        made = await self._made(found, thread.context_usage.at)
        return ContextRead(
            session_id=state.session,
            thread_id=thread.thread,
            context=row,
            text=None if query.ref is None else await self._text(row, query.ref),
            summary=made.summary if made is not None else None,
            compacted=thread.context_usage.compacted,
            said=() if made is None else tuple([one async for one in self._said(state.session, made)]),
            head=state.sequence,
        )

    async def _text(self, row: ContextRow, ref: str) -> Text | None:
        given = next((one for one in row.refs if one.ref == ref), None)
        if given is None:
            raise Refusal(
                "context_missing",
                f"The newest run was not given {ref}.",
                field="ref",
                hint="context.refs names what it was.",
            )
        if given.content is None or given.kind in ("image", "binary"):
            return None
        return await self._read(given.content)

    async def _read(self, content: BlobRef) -> Text:
        if content.size <= LARGEST_INLINE:
            data = await self._dependencies.store.blobs.get(content.hash)
            return Text(erased=True) if data is None else Text(text=data.decode("utf-8", "replace"))
        head = await self._dependencies.store.blobs.get_range(content.hash, offset=0, length=PREVIEW)
        return Text(erased=True) if head is None else Text(text=head.decode("utf-8", "ignore"), ref=content)

    async def _made(self, found: OpenSession, at: int) -> CompactionCompleted | None:
        if not at:
            return None
        record = await self._fact(found.host.state.session, at)
        return record.fact if record is not None and isinstance(record.fact, CompactionCompleted) else None

    async def _said(self, session: str, made: CompactionCompleted) -> AsyncIterator[SaidRead]:
        for one in made.said:
            record = await self._fact(session, one.sequence)
            if record is None:
                continue
            fact = record.fact
            spoken = isinstance(fact, TurnSubmitted | QueueEdited | SteerRequested)
            text = fact.input if spoken else Text(erased=True)
            yield SaidRead(sequence=one.sequence, turn_id=record.scope.turn, size=one.size, text=text)

    async def _fact(self, session: str, sequence: int) -> Record | None:
        records = await self._dependencies.store.facts.read(session, after=sequence - 1, until=sequence, limit=1)
        return records[0] if records else None

    async def _mentions(self, query: FindMentions) -> MentionList:
        """Agents and artifacts first, where the text fits them, then files and folders, then past sessions."""
        workspace = self._workspaces.get(query.workspace_id).context
        state = (await self._sessions.get(query.session_id)).host.state if query.session_id is not None else None
        text = query.text.strip().strip('"')
        found = [
            *self._agents(workspace, text),
            *_artifacts(state, text),
            *await self._files(workspace, state, text, query.limit),
        ]
        found += _sessions(workspace, query.session_id, text)
        return MentionList(mentions=tuple(found[: query.limit]), complete=len(found) <= query.limit)

    def _agents(self, workspace: WorkspaceContext, text: str) -> Iterator[Mention]:
        for one in self._dependencies.definitions.roster(workspace.folder).definitions:
            if text.casefold() in one.name.casefold():
                yield Mention(kind="agent", ref=one.name, insert=f"@{one.name}", title=one.description)

    async def _files(self, workspace: WorkspaceContext, state: Session | None, text: str, limit: int) -> list[Mention]:
        context = person_context(workspace, state, self._dependencies.clock.now())
        paths = await self._dependencies.toolbox.find_paths(text, context, limit)
        folders = dict.fromkeys(one for path in paths for one in _above(path) if text.casefold() in one.casefold())
        readable = [one for one in folders if find_rule(context.rules, Target(tool="Read", path=one)) is None]
        files = [Mention(kind="file", ref=path, insert=_insert(path)) for path in paths]
        return [
            *(Mention(kind="folder", ref=one, insert=_insert(f"{one}/")) for one in sorted(readable, key=len)),
            *files,
        ]


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _insert(path: str) -> str:
    plain = path.isascii() and not set(path) & set(" \t\"'`<>()[]{},;|") and not path.endswith((".", ":", "!", "?"))
    return f"@{path}" if plain else f'@"{path}"'


def _artifacts(state: Session | None, text: str) -> Iterator[Mention]:
    for key, one in state.artifacts.open.items() if state is not None else ():
        name = one.title or one.path
        if text.casefold() in name.casefold() or key.startswith(text):
            yield Mention(kind="artifact", ref=key, insert=f"@{key}", title=name)


def _sessions(workspace: WorkspaceContext, own: str | None, text: str) -> list[Mention]:
    newest = sorted(workspace.sessions.values(), key=lambda one: one.session, reverse=True)
    return [
        Mention(kind="session", ref=one.session, insert=f"@{one.session}", title=one.title)
        for one in newest
        if one.session != own and (text.casefold() in one.title.casefold() or one.session.startswith(text))
    ]
