"""Changes of artifacts by people.

A file is changed outside the log. So the intent is a fact before the file is touched, and the
outcome is a fact after it. If the process ends in between, the next one reads the file.
"""

from __future__ import annotations

import asyncio
import re
from typing import NamedTuple

import msgspec

from callboard.contracts.commands.artifact import (
    ArtifactChanged,
    ArtifactRetried,
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.content import Blob
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE, Secrets
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.control.state.artifact import ArtifactChangeReported, ArtifactRequest, ArtifactRequested, FileState
from callboard.tools.builtin.folder_files import FolderFiles, check_changeable, compare, to_blob

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..service import Service, carries_out
from ..session_registry import SessionRegistry
from ..sessions.host import SessionHost
from ..turns.artifact_recovery import ArtifactLocation, locate_artifact
from ..workspaces.registry import WorkspaceRegistry
from .exporter import ArtifactExporter
from .queries import ArtifactReads

#: The hint of a refusal that saved nothing.
DRAFT_HINT = "Your text is stored. Read the newest version, then use retry_artifact to overwrite it, or edit again."
#: A whole secret handle, with its form.
_HANDLE = re.compile(rf"({re.escape(HANDLE)}[A-Za-z0-9][A-Za-z0-9_#~-]*)")
_HANDLES = re.compile(_HANDLE.pattern.encode())


class _FileState(NamedTuple):
    """The current bytes of the file, and the bytes to save."""

    current: bytes | None
    draft: bytes | None


class ArtifactWriter(Service):
    """Changes artifacts on request of people. A change continues if its caller is cancelled."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: SessionRegistry,
        workspaces: WorkspaceRegistry,
        reads: ArtifactReads,
        exporter: ArtifactExporter,
    ) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._reads = reads
        self._exporter = exporter
        self._files = FolderFiles(dependencies.closed_folders)
        self._secrets = dependencies.secrets
        self._tasks = BackgroundTasks()

    @carries_out(RetryArtifact)
    async def retry(self, request: RetryArtifact, actor: Actor, stored_answer: StoredAnswer | None) -> ArtifactRetried:
        """Retry a failed change or export. The stored answer is the one of a change or of an export."""
        if request.export_id is not None:
            export = await self._exporter.retry(request, actor, stored_answer)
            return ArtifactRetried(
                session_id=export.session_id,
                artifact_id=export.artifact_id,
                sequence=export.sequence,
                export_id=export.export_id,
            )
        change = await self._tasks.run(self._change(request, actor, stored_answer))
        return ArtifactRetried(
            session_id=change.session_id,
            artifact_id=change.artifact_id,
            sequence=change.sequence,
            version=change.version,
            status=change.status,
        )

    @carries_out(CreateArtifact, EditArtifact, RollbackArtifact, DeleteArtifact)
    async def change(
        self, request: ArtifactRequest, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ArtifactChanged:
        """Create, save, roll back or delete. A conflict or a failed write is recorded with a draft of the text."""
        return await self._tasks.run(self._change(request, actor, stored_answer))

    async def close(self) -> None:
        """Wait for the running changes, so that no file is half written."""
        await self._tasks.wait_all()

    async def _change(
        self, request: ArtifactRequest, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ArtifactChanged:
        host = (await self._sessions.get(request.session_id)).host
        request, location = self._locate(host, request)
        sequence = host.state.sequence
        file_state = await self._read_state(host, request, location)
        artifact_request = await self._build_request(host, request, location, file_state)
        artifact_request = msgspec.structs.replace(artifact_request, file_sequence=sequence)
        # A command that can change a file stores its answer with the outcome.
        changes = artifact_request.file is not None and (
            artifact_request.draft is not None or isinstance(request, DeleteArtifact)
        )
        answer = _require_changed(await host.run_command(artifact_request, actor, None if changes else stored_answer))
        if answer.status == "conflict":
            raise self._build_refusal(host, answer)
        if not changes:
            return answer
        done = ArtifactChangeReported(session_id=request.session_id, artifact_id=answer.artifact_id)
        if answer.status == "saving" and location is not None:
            done = await self._write_file(done, artifact_request, location, file_state)
        host = (await self._sessions.get(request.session_id)).host
        # A failure stores no answer: the same key can be tried again.
        answer = _require_changed(await host.run_command(done, actor, None if done.code else stored_answer))
        if answer.status in ("conflict", "failed"):
            raise self._build_refusal(host, answer, done)
        return answer

    async def _write_file(
        self,
        done: ArtifactChangeReported,
        request: ArtifactRequested,
        location: ArtifactLocation,
        file_state: _FileState,
    ) -> ArtifactChangeReported:
        """Change the file and return the outcome."""
        try:
            if file_state.draft is not None:
                await self._files.replace(*location, file_state.current, file_state.draft)
            elif file_state.current is not None:
                await self._files.remove(*location, file_state.current)
        except Refusal as refusal:
            conflicting = None
            if refusal.code == "file_changed":
                conflicting = FileState(content=self._redact_to_blob(await self._files.read(*location)))
            return msgspec.structs.replace(done, code=refusal.code, message=refusal.problem.message, file=conflicting)
        return msgspec.structs.replace(done, added=request.added, removed=request.removed)

    def _locate(self, host: SessionHost, request: ArtifactRequest) -> tuple[ArtifactRequest, ArtifactLocation | None]:
        """Return the request with a normalised path, and the file's location; None if it has no file."""
        if isinstance(request, CreateArtifact):
            if request.path is None:
                return request, None
            path = check_changeable(host.workspace.folder, request.path)
            return msgspec.structs.replace(request, path=path), ArtifactLocation(host.workspace.folder, path)
        artifact = host.state.artifacts.open.get(request.artifact_id)
        if isinstance(request, DeleteArtifact) and not request.file:
            return request, None
        return request, locate_artifact(host, artifact)

    async def _read_state(
        self, host: SessionHost, request: ArtifactRequest, location: ArtifactLocation | None
    ) -> _FileState:
        """Return the file's bytes, and the bytes to save in it."""
        current = None if location is None else await self._files.read(*location)
        return _FileState(current, await self._build_draft(host, request, location, current or b""))

    async def _build_request(
        self, host: SessionHost, request: ArtifactRequest, location: ArtifactLocation | None, file_state: _FileState
    ) -> ArtifactRequested:
        """Return the request with the data that its decision needs, redacted."""
        recorded_state = None if location is None else FileState(content=self._redact_to_blob(file_state.current))
        artifact = "" if isinstance(request, CreateArtifact) else request.artifact_id
        draft = self._redact_to_blob(file_state.draft)
        artifact_request = ArtifactRequested(
            session_id=request.session_id, artifact_id=artifact, request=request, draft=draft, file=recorded_state
        )
        if draft is None:
            return artifact_request
        if recorded_state is not None:
            old = None if recorded_state.content is None else recorded_state.content.data
        else:
            old = await self._read_newest(host, artifact)
        comparison = await asyncio.to_thread(
            compare, location.path if location is not None else "text", old, draft.data
        )
        return msgspec.structs.replace(artifact_request, added=comparison.added, removed=comparison.removed)

    async def _build_draft(
        self, host: SessionHost, request: ArtifactRequest, location: ArtifactLocation | None, current: bytes
    ) -> bytes | None:
        """Return the bytes to save. A handle becomes its value, unless the file contains the handle as text."""
        match request:
            case CreateArtifact(content=str(text)) | EditArtifact(content=str(text)):
                text = reveal(text, self._secrets, current)
                return _encode(text) if location is None else await self._files.encode(*location, text)
            case RollbackArtifact():
                version = await self._reads.read_content(request.session_id, request.artifact_id, request.version)
                return _reveal_bytes(version.data, self._secrets, current)
            case RetryArtifact():
                draft_entry = host.state.artifacts.drafts.get(request.artifact_id)
                if draft_entry is None:
                    return None
                draft = await self._reads.read_blob(draft_entry.draft)
                return _reveal_bytes(draft.data, self._secrets, current)
            case _:
                return None

    async def _read_newest(self, host: SessionHost, artifact: str) -> bytes | None:
        state = host.state.artifacts.open.get(artifact)
        if state is None or state.version == 0:
            return None
        return (await self._reads.read_content(host.session, artifact, state.version)).data

    def _redact_to_blob(self, data: bytes | None) -> Blob | None:
        """Return the bytes as a blob, with values replaced by handles."""
        return None if data is None else to_blob(self._secrets.redact_bytes(data))

    @staticmethod
    def _build_refusal(
        host: SessionHost, answer: ArtifactChanged, done: ArtifactChangeReported | None = None
    ) -> Refusal:
        if answer.status == "conflict" or done is None:
            artifact = host.state.artifacts.open.get(answer.artifact_id)
            newest = artifact.version if artifact is not None else answer.version
            return Refusal(
                "artifact_conflict",
                f"The artifact changed. Its newest version is {newest}.",
                field="baseVersion",
                hint=DRAFT_HINT,
            )
        code = "path_denied" if done.code == "path_denied" else "tool_failed"
        return Refusal(code, f"The artifact was not saved. {done.message}", field="artifactId", hint=DRAFT_HINT)


def reveal(text: str, secrets: Secrets, current: bytes) -> str:
    """Return the text with values in place of handles.

    A handle that the file contains as text stays as it is.
    """
    literal_handles = {match[0] for match in _HANDLES.finditer(current)}
    if not literal_handles:
        return secrets.reveal(text)
    safe = secrets.redact_bytes(current)
    for handle in literal_handles:
        if _count_handle(handle, safe) > _count_handle(handle, current):
            raise Refusal(
                "invalid_input",
                f"The file contains a secret and also its handle {handle.decode()} as text, so the change is ambiguous.",
                field="content",
                hint="Edit the file in a text editor.",
            )
    pieces = _HANDLE.split(text)
    return "".join(piece if piece.encode() in literal_handles else secrets.reveal(piece) for piece in pieces)


def _count_handle(handle: bytes, data: bytes) -> int:
    return sum(match[0] == handle for match in _HANDLES.finditer(data))


def _reveal_bytes(data: bytes, secrets: Secrets, current: bytes) -> bytes:
    if HANDLE.encode() not in data:
        return data
    try:
        return reveal(data.decode(), secrets, current).encode()
    except UnicodeDecodeError:
        return data


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refusal(
            "invalid_input",
            "The content is not valid Unicode text.",
            field="content",
            hint="Remove unpaired surrogates from the content.",
        ) from error


def _require_changed(answer: object) -> ArtifactChanged:
    if not isinstance(answer, ArtifactChanged):
        raise TypeError(f"the session answered an artifact change with {type(answer).__name__}")
    return answer
