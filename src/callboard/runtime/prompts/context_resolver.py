"""Attachments and mentions of an input, read when it is submitted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from callboard.contracts.commands.queue import EditQueuedTurn
from callboard.contracts.commands.turn import Attachment, SteerTurn, SubmitTurn
from callboard.contracts.content import Blob, make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.ids import PREFIXES
from callboard.contracts.ports.tools import PathContent, ToolContext
from callboard.contracts.refs import ContextRef, MissingReason, MissingRef, RefSource
from callboard.contracts.rows.artifact import ArtifactRow
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.turn import TurnRow
from callboard.control.decide import SessionCommand
from callboard.control.input_text import find_mentions
from callboard.control.resolved_context import EMPTY_CONTEXT, ResolvedContext, merge_contexts
from callboard.control.state.agent_definitions import build_session_roster
from callboard.control.state.context import BYTES_PER_TOKEN
from callboard.tools.files.file_types import TEXT, detect
from callboard.tools.files.paths import MAX_NAME_BYTES, display

from ..dependencies import Dependencies
from ..session_state import SessionState
from ..views.current_rows import read_current_rows
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import build_person_context

#: Largest size of all attachments of one input, in bytes.
MAX_ATTACHED_BYTES = 64 * 1024 * 1024
#: Number of newest turns of a mentioned session, and characters of its text.
SESSION_TURNS = 10
MAX_SESSION_CHARS = 32 * 1024

_LINE_RANGE = re.compile(r"(?P<path>.+?)(?::\d+(?:-\d+)?|#L?\d+(?:-L?\d+)?)\Z")


class ContextResolver:
    """Resolves the context of one session's inputs.

    It reads files only through the folder's tools. Content that a rule forbids is not included.
    """

    def __init__(
        self, dependencies: Dependencies, session_state: SessionState, workspace: Callable[[], WorkspaceContext]
    ) -> None:
        self._dependencies = dependencies
        self._session_state = session_state
        self._workspace = workspace

    async def resolve(self, request: SessionCommand) -> ResolvedContext:
        """Return the context of the command's input."""
        match request:
            case SubmitTurn() | SteerTurn():
                attached = await self._resolve_attachments(request.attachments)
                return merge_contexts(attached, await self._resolve_mentions(request.text, request.thread_id))
            case EditQueuedTurn():
                return await self._resolve_mentions(request.text, None)
            case _:
                return EMPTY_CONTEXT

    def resolve_pinned(self, name: str) -> ResolvedContext:
        """Return the current content of a pinned name. This blocks while it reads."""
        return self._resolve_file(name, "pinned", self._build_context(None))

    async def _resolve_attachments(self, attachments: tuple[Attachment, ...]) -> ResolvedContext:
        resolved: list[ResolvedContext] = []
        size = 0
        for number, attachment in enumerate(attachments):
            name, data = await self._read_attachment(attachment, f"attachments[{number}]")
            size += len(data)
            if size > MAX_ATTACHED_BYTES:
                most = f"{MAX_ATTACHED_BYTES // 1024 // 1024} MB"
                raise Refusal(
                    "too_large",
                    f"The attachments are too large. The limit is {most} in total.",
                    field=f"attachments[{number}]",
                    hint="Remove attachments.",
                )
            content = detect(data)
            blob = self._redact_to_blob(content.data, content.media)
            tokens = len(content.data) // BYTES_PER_TOKEN if content.kind == "text" else None
            ref = ContextRef(
                ref=attachment.upload or f"blob:{blob.ref.hash[:16]}",
                kind=content.kind,
                source="attached",
                title=f"{display(name, MAX_NAME_BYTES)} ({content.description})",
                content=blob.ref,
                tokens=tokens,
            )
            resolved.append(ResolvedContext(refs=(ref,), blobs=(blob,)))
        return merge_contexts(*resolved)

    async def _read_attachment(self, attachment: Attachment, field: str) -> tuple[str, bytes]:
        if (attachment.upload is None) == (attachment.blob is None):
            raise Refusal(
                "invalid_input",
                "An attachment needs exactly one of upload and blob.",
                field=field,
                hint="Set one of them.",
            )
        if attachment.blob is not None:
            data = await self._dependencies.store.blobs.get(attachment.blob)
            if data is not None:
                return attachment.name or attachment.blob[:12], data
        elif attachment.upload is not None and self._dependencies.uploads is not None:
            upload = await self._dependencies.uploads.read(attachment.upload)
            if upload is not None:
                return attachment.name or upload[0].name, upload[1]
        raise Refusal(
            "context_missing",
            "The attachment no longer exists.",
            field=field,
            hint="Attach the file again. Unused uploads are deleted after a day.",
        )

    async def _resolve_mentions(self, text: str, thread: str | None) -> ResolvedContext:
        names = find_mentions(text)
        if not names:
            return EMPTY_CONTEXT
        context = self._build_context(thread)
        return merge_contexts(*[await self._resolve_mention(name, context) for name in names])

    async def _resolve_mention(self, name: str, context: ToolContext) -> ResolvedContext:
        if name.startswith(f"{PREFIXES['artifact']}_"):
            return await self._resolve_artifact(name)
        if name.startswith(f"{PREFIXES['session']}_"):
            return await self._resolve_session(name)
        resolved = await asyncio.to_thread(self._resolve_file, name, "mentioned", context)
        line_range = _LINE_RANGE.match(name)
        if resolved.missing and resolved.missing[0].reason == "not_found" and line_range is not None:
            resolved = await asyncio.to_thread(self._resolve_file, line_range["path"], "mentioned", context)
        if resolved.missing and resolved.missing[0].reason == "not_found" and self._is_agent(name):
            return EMPTY_CONTEXT
        return (
            resolved
            if resolved.refs
            else ResolvedContext(missing=tuple(_rename_ref(missing, name) for missing in resolved.missing))
        )

    def _resolve_file(self, name: str, source: RefSource, context: ToolContext) -> ResolvedContext:
        looked = self._dependencies.toolbox.read_path(name, context)
        if not isinstance(looked, PathContent):
            return _build_missing_ref(name, looked.reason, looked.detail, source)
        path = looked.path or "."
        if looked.kind == "binary":
            return ResolvedContext(
                refs=(ContextRef(ref=path, kind="binary", source=source, title=f"{path} ({looked.description})"),)
            )
        blob = self._redact_to_blob(looked.data, looked.media)
        tokens = None if looked.kind == "image" else len(looked.data) // BYTES_PER_TOKEN
        title = f"{path} ({looked.description})" if looked.kind in ("image", "folder") else ""
        ref = ContextRef(ref=path, kind=looked.kind, source=source, title=title, content=blob.ref, tokens=tokens)
        return ResolvedContext(refs=(ref,), blobs=(blob,))

    async def _resolve_artifact(self, name: str) -> ResolvedContext:
        rows = await read_current_rows(self._dependencies.store, self._session_state.state.session)
        row = await rows.get(ArtifactRow, name)
        newest = row.versions[-1].content if row is not None and row.versions else None
        if name not in self._session_state.state.artifacts.open:
            return _build_missing_ref(name, "deleted" if newest is not None else "not_found")
        data = await self._dependencies.store.blobs.get(newest.hash) if newest is not None else None
        if data is None or newest is None:
            return _build_missing_ref(name, "erased" if newest is not None else "not_found")
        content = detect(data)
        blob = self._redact_to_blob(content.data, content.media)
        ref = ContextRef(
            ref=name,
            kind="image" if content.kind == "image" else "binary" if content.kind == "binary" else "artifact",
            source="mentioned",
            title=(row.title if row is not None else "") or name,
            content=blob.ref,
            tokens=len(content.data) // BYTES_PER_TOKEN if content.kind == "text" else None,
        )
        return ResolvedContext(refs=(ref,), blobs=(blob,))

    async def _resolve_session(self, name: str) -> ResolvedContext:
        """Return a past session: its title, and the inputs and answers of its newest turns."""
        listed = self._workspace().sessions.get(name)
        if listed is None:
            return _build_missing_ref(name, "not_found", "the workspace has no such session")
        rows = await read_current_rows(self._dependencies.store, name)
        sections = [f"# {listed.title}"]
        for turn in await rows.list_newest(TurnRow, SESSION_TURNS):
            parts = [await rows.get(TextPart, key) for key in turn.final_parts]
            answer = "\n\n".join([await self._read_text(part) for part in parts if part is not None])
            sections.append(f"## {turn.input.text}\n\n{answer or f'({turn.state})'}")
        text = "\n\n".join(sections)[:MAX_SESSION_CHARS]
        blob = self._redact_to_blob(text.encode("utf-8", "replace"), TEXT)
        ref = ContextRef(
            ref=name,
            kind="session",
            source="mentioned",
            title=listed.title,
            content=blob.ref,
            tokens=len(text) // BYTES_PER_TOKEN,
        )
        return ResolvedContext(refs=(ref,), blobs=(blob,))

    async def _read_text(self, part: TextPart) -> str:
        if part.content.ref is None:
            return part.content.text
        data = await self._dependencies.store.blobs.get_range(part.content.ref.hash, offset=0, length=MAX_SESSION_CHARS)
        return part.content.text if data is None else data.decode("utf-8", "ignore")

    def _redact_to_blob(self, data: bytes, media: str) -> Blob:
        """Return the bytes as a blob, with secrets replaced by handles."""
        return make_blob(self._dependencies.secrets.redact_bytes(data), media)

    def _is_agent(self, name: str) -> bool:
        """Return True if an agent has the name. A mention of an agent has no content."""
        state = self._session_state.state
        if any(name in (thread.agent, *thread.aliases) for thread in state.threads.values()):
            return True
        return (
            build_session_roster(self._dependencies.definitions.read_roster(self._workspace().folder), state).find(name)
            is not None
        )

    def _build_context(self, thread: str | None) -> ToolContext:
        """Return the context of the reads: a person, in the folder of the thread's agent."""
        workspace, state = self._workspace(), self._session_state.state
        agent_thread = state.threads.get(thread or state.owner or state.lead)
        worktree = agent_thread.child.worktree if agent_thread is not None and agent_thread.child is not None else ""
        return build_person_context(workspace, state, self._dependencies.clock.now(), worktree)


def _build_missing_ref(
    name: str, reason: MissingReason, detail: str = "", source: RefSource = "mentioned"
) -> ResolvedContext:
    return ResolvedContext(missing=(MissingRef(ref=name, source=source, reason=reason, detail=detail),))


def _rename_ref(missing: MissingRef, ref: str) -> MissingRef:
    return MissingRef(ref=ref, source=missing.source, reason=missing.reason, detail=missing.detail)
