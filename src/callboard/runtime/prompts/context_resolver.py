"""What comes with an input and what it names, read at that moment: files of the folder, uploads, artifacts, past sessions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from callboard.contracts.commands import EditQueuedTurn, SteerTurn, SubmitTurn
from callboard.contracts.commands.turns import Attachment
from callboard.contracts.content import Blob, blob_of
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ArtifactVersionCreated
from callboard.contracts.ids import PREFIXES
from callboard.contracts.ports.tools import PathContent, ToolContext
from callboard.contracts.refs import ContextRef, MissingReason, MissingRef, RefSource
from callboard.contracts.rows import ArtifactRow, TextPart, TurnRow
from callboard.control.decide import SessionCommand
from callboard.control.mentions import find_mentions
from callboard.control.resolved_context import EMPTY_CONTEXT, ResolvedContext, merge_contexts
from callboard.control.state.agent_definitions import session_roster
from callboard.control.state.context import BYTES_PER_TOKEN
from callboard.tools.files.file_types import TEXT, detect
from callboard.tools.files.paths import LONGEST_NAME, display

from ..dependencies import Dependencies
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import person_context

#: How much all attachments of one input may be, in bytes.
MOST_ATTACHED = 64 * 1024 * 1024
#: How many of the newest turns of a past session are told, and how much of it, in characters.
TURNS_OF_SESSION = 10
MOST_OF_SESSION = 32 * 1024

_LINES = re.compile(r"(?P<path>.+?)(?::\d+(?:-\d+)?|#L?\d+(?:-L?\d+)?)\Z")


class ContextResolver:
    """Gathers it for one session. Nothing is read but by the folder's own walk, and what a rule forbids is not given."""

    def __init__(
        self, dependencies: Dependencies, session_state: SessionState, workspace: Callable[[], WorkspaceContext]
    ) -> None:
        self._dependencies = dependencies
        self._session_state = session_state
        self._workspace = workspace

    async def resolve(self, request: SessionCommand) -> ResolvedContext:
        """What the input of this command brings. Raises Refusal `context_missing` for an upload or a blob that is gone, and
        `too_large`."""
        match request:
            case SubmitTurn() | SteerTurn():
                attached = await self._attached(request.attachments)
                return merge_contexts(attached, await self._named(request.text, request.thread_id))
            case EditQueuedTurn():
                return await self._named(request.text, None)
            case _:
                return EMPTY_CONTEXT

    def resolve_pinned(self, name: str) -> ResolvedContext:
        """What a name that is pinned stands for now. Blocks while it reads."""
        return self._file(name, "pinned", self._context(None))

    async def _attached(self, attachments: tuple[Attachment, ...]) -> ResolvedContext:
        found: list[ResolvedContext] = []
        size = 0
        for number, one in enumerate(attachments):
            name, data = await self._bytes(one, f"attachments[{number}]")
            size += len(data)
            if size > MOST_ATTACHED:
                most = f"{MOST_ATTACHED // 1024 // 1024} MB"
                raise Refusal(
                    "too_large",
                    f"Attachments are at most {most} together.",
                    field=f"attachments[{number}]",
                    hint="Send less.",
                )
            is_a = detect(data)
            blob = self._blob(is_a.data, is_a.media)
            tokens = len(is_a.data) // BYTES_PER_TOKEN if is_a.kind == "text" else None
            ref = ContextRef(
                ref=one.upload or f"blob:{blob.ref.hash[:16]}",
                kind=is_a.kind,
                source="attached",
                title=f"{display(name, LONGEST_NAME)} ({is_a.description})",
                content=blob.ref,
                tokens=tokens,
            )
            found.append(ResolvedContext(refs=(ref,), blobs=(blob,)))
        return merge_contexts(*found)

    async def _bytes(self, one: Attachment, field: str) -> tuple[str, bytes]:
        if (one.upload is None) == (one.blob is None):
            raise Refusal(
                "invalid_input", "An attachment is an upload or a blob.", field=field, hint="Name one of them."
            )
        if one.blob is not None:
            data = await self._dependencies.store.blobs.get(one.blob)
            if data is not None:
                return one.name or one.blob[:12], data
        elif one.upload is not None and self._dependencies.uploads is not None:
            taken = await self._dependencies.uploads.take(one.upload)
            if taken is not None:
                return one.name or taken[0].name, taken[1]
        raise Refusal(
            "context_missing",
            "What is attached is no longer there.",
            field=field,
            hint="Attach the file again: an upload that is not used is kept for a day.",
        )

    async def _named(self, text: str, thread: str | None) -> ResolvedContext:
        names = find_mentions(text)
        if not names:
            return EMPTY_CONTEXT
        context = self._context(thread)
        return merge_contexts(*[await self._mention(name, context) for name in names])

    async def _mention(self, name: str, context: ToolContext) -> ResolvedContext:
        if name.startswith(f"{PREFIXES['artifact']}_"):
            return await self._artifact(name)
        if name.startswith(f"{PREFIXES['session']}_"):
            return await self._session(name)
        found = await asyncio.to_thread(self._file, name, "mentioned", context)
        in_lines = _LINES.match(name)
        if found.missing and found.missing[0].reason == "not_found" and in_lines is not None:
            found = await asyncio.to_thread(self._file, in_lines["path"], "mentioned", context)
        if found.missing and found.missing[0].reason == "not_found" and self._is_agent(name):
            return EMPTY_CONTEXT
        return found if found.refs else ResolvedContext(missing=tuple(_as_written(one, name) for one in found.missing))

    def _file(self, name: str, source: RefSource, context: ToolContext) -> ResolvedContext:
        looked = self._dependencies.toolbox.read_path(name, context)
        if not isinstance(looked, PathContent):
            return _missing(name, looked.reason, looked.detail, source)
        path = looked.path or "."
        if looked.kind == "binary":
            return ResolvedContext(
                refs=(ContextRef(ref=path, kind="binary", source=source, title=f"{path} ({looked.description})"),)
            )
        blob = self._blob(looked.data, looked.media)
        tokens = None if looked.kind == "image" else len(looked.data) // BYTES_PER_TOKEN
        title = f"{path} ({looked.description})" if looked.kind in ("image", "folder") else ""
        ref = ContextRef(ref=path, kind=looked.kind, source=source, title=title, content=blob.ref, tokens=tokens)
        return ResolvedContext(refs=(ref,), blobs=(blob,))

    async def _artifact(self, name: str) -> ResolvedContext:
        session = self._session_state.state.session
        row = await self._dependencies.store.rows.row(session, ArtifactRow.panel, name)
        views = await self._dependencies.store.rows.views(session)
        seen = views.watermark if views is not None else 0
        newest = row.versions[-1].content if isinstance(row, ArtifactRow) and row.versions else None
        title = row.title if isinstance(row, ArtifactRow) else ""
        # Rows are written behind the log: what they do not show yet is read from it.
        for record in await self._dependencies.store.facts.read(session, after=seen, limit=1000):
            if isinstance(record.fact, ArtifactVersionCreated) and record.scope.artifact == name:
                newest, title = record.fact.content, record.fact.title or title
        if name not in self._session_state.state.artifacts.open:
            return _missing(name, "deleted" if newest is not None else "not_found")
        data = await self._dependencies.store.blobs.get(newest.hash) if newest is not None else None
        if data is None or newest is None:
            return _missing(name, "erased" if newest is not None else "not_found")
        is_a = detect(data)
        blob = self._blob(is_a.data, is_a.media)
        ref = ContextRef(
            ref=name,
            kind="image" if is_a.kind == "image" else "binary" if is_a.kind == "binary" else "artifact",
            source="mentioned",
            title=title or name,
            content=blob.ref,
            tokens=len(is_a.data) // BYTES_PER_TOKEN if is_a.kind == "text" else None,
        )
        return ResolvedContext(refs=(ref,), blobs=(blob,))

    async def _session(self, name: str) -> ResolvedContext:
        """A past session of the workspace: its title, what was asked in its newest turns and what was answered."""
        listed = self._workspace().sessions.get(name)
        if listed is None:
            return _missing(name, "not_found", "the workspace has no such session")
        rows = self._dependencies.store.rows
        turns = [
            row for row in await rows.rows(name, TurnRow.panel, limit=TURNS_OF_SESSION) if isinstance(row, TurnRow)
        ]
        told = [f"# {listed.title}"]
        for turn in turns:
            parts = [await rows.row(name, TextPart.panel, key) for key in turn.final_parts]
            answer = "\n\n".join([await self._whole(part) for part in parts if isinstance(part, TextPart)])
            told.append(f"## {turn.input.text}\n\n{answer or f'({turn.state})'}")
        text = "\n\n".join(told)[:MOST_OF_SESSION]
        blob = self._blob(text.encode("utf-8", "replace"), TEXT)
        ref = ContextRef(
            ref=name,
            kind="session",
            source="mentioned",
            title=listed.title,
            content=blob.ref,
            tokens=len(text) // BYTES_PER_TOKEN,
        )
        return ResolvedContext(refs=(ref,), blobs=(blob,))

    async def _whole(self, part: TextPart) -> str:
        if part.content.ref is None:
            return part.content.text
        data = await self._dependencies.store.blobs.get_range(part.content.ref.hash, offset=0, length=MOST_OF_SESSION)
        return part.content.text if data is None else data.decode("utf-8", "ignore")

    def _blob(self, data: bytes, media: str) -> Blob:
        """The bytes as they are kept: a secret in them is replaced by its handle, as everywhere."""
        return blob_of(self._dependencies.secrets.redact_bytes(data), media)

    def _is_agent(self, name: str) -> bool:
        """True for a name that an agent here goes by: it says who is meant, and there is nothing to read."""
        state = self._session_state.state
        if any(name in (thread.agent, *thread.aliases) for thread in state.threads.values()):
            return True
        return (
            session_roster(self._dependencies.definitions.roster(self._workspace().folder), state).find(name)
            is not None
        )

    def _context(self, thread: str | None) -> ToolContext:
        """For whom it is read: a person, in the folder of the thread's agent, under the rules that hold."""
        workspace, state = self._workspace(), self._session_state.state
        of = state.threads.get(thread or state.owner or state.lead)
        worktree = of.child.worktree if of is not None and of.child is not None else ""
        return person_context(workspace, state, self._dependencies.clock.now(), worktree)


def _missing(name: str, reason: MissingReason, detail: str = "", source: RefSource = "mentioned") -> ResolvedContext:
    return ResolvedContext(missing=(MissingRef(ref=name, source=source, reason=reason, detail=detail),))


def _as_written(one: MissingRef, name: str) -> MissingRef:
    return MissingRef(ref=name, source=one.source, reason=one.reason, detail=one.detail)
