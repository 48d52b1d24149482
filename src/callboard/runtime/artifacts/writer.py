"""What persons do with artifacts: files are looked at before it is decided, and changed between the intent and what came of it.

A file is changed outside of the log, so the intent is a fact before it is touched, and what came of it one behind it. A process
that ends between the two leaves it to the next, which looks at the file.
"""

from __future__ import annotations

import asyncio
import re
from typing import NamedTuple

import msgspec

from callboard.contracts.commands.artifacts import (
    ArtifactChanged,
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
from ..session_registry import SessionRegistry
from ..sessions.host import SessionHost
from ..turns.artifact_recovery import ArtifactLocation, locate_artifact
from .queries import ArtifactReads

#: What is said where the answer of a command is that nothing was saved.
KEPT = "What you wrote is kept: look at the newest version, then retry_artifact over it, or edit it again."
#: A handle to its end, with its form.
_HANDLE = re.compile(rf"({re.escape(HANDLE)}[A-Za-z0-9][A-Za-z0-9_#~-]*)")
_HANDLES = re.compile(_HANDLE.pattern.encode())


class _FileState(NamedTuple):
    """Bytes as they are outside: of the file, and of what is to be saved."""

    there: bytes | None
    draft: bytes | None


class ArtifactWriter:
    """Changes on behalf of persons. One that was begun is told of, also where its asker goes away."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, reads: ArtifactReads) -> None:
        self._sessions = sessions
        self._reads = reads
        self._files = FolderFiles(dependencies.closed_folders)
        self._secrets = dependencies.secrets
        self._tasks = BackgroundTasks()

    async def change(
        self, request: ArtifactRequest, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ArtifactChanged:
        """Makes, saves, takes up again, tries again or deletes. Raises Refusal: what the decision refuses, `artifact_conflict`
        and what the file system refuses, both behind a fact that keeps what was written."""
        return await self._tasks.run(self._change(request, actor, stored_answer))

    async def wait_settled(self) -> None:
        """Waits for the changes under way: no file is left half way."""
        await self._tasks.wait_all()

    async def _change(
        self, request: ArtifactRequest, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ArtifactChanged:
        host = (await self._sessions.get(request.session_id)).host
        request, place = self._placed(host, request)
        looked_at = host.state.sequence
        seen = await self._seen(host, request, place)
        what = await self._asked(host, request, place, seen)
        what = msgspec.structs.replace(what, file_sequence=looked_at)
        # What may change a file keeps its answer with what came of that.
        changes = what.file is not None and (what.draft is not None or isinstance(request, DeleteArtifact))
        answer = _changed(await host.run_command(what, actor, None if changes else stored_answer))
        if answer.status == "conflict":
            raise self._refusal(host, answer)
        if not changes:
            return answer
        done = ArtifactChangeReported(session_id=request.session_id, artifact_id=answer.artifact_id)
        if answer.status == "saving" and place is not None:
            done = await self._made(done, what, place, seen)
        host = (await self._sessions.get(request.session_id)).host
        # A refusal is not kept: asked again with its key, it is tried again.
        answer = _changed(await host.run_command(done, actor, None if done.code else stored_answer))
        if answer.status in ("conflict", "failed"):
            raise self._refusal(host, answer, done)
        return answer

    async def _made(
        self, done: ArtifactChangeReported, what: ArtifactRequested, place: ArtifactLocation, seen: _FileState
    ) -> ArtifactChangeReported:
        """Changes the file and says what came of it."""
        try:
            if seen.draft is not None:
                await self._files.replace(*place, seen.there, seen.draft)
            elif seen.there is not None:
                await self._files.remove(*place, seen.there)
        except Refusal as refusal:
            look = None
            if refusal.code == "file_changed":
                look = FileState(content=self._kept(await self._files.read(*place)))
            return msgspec.structs.replace(done, code=refusal.code, message=refusal.problem.message, file=look)
        return msgspec.structs.replace(done, added=what.added, removed=what.removed)

    def _placed(self, host: SessionHost, request: ArtifactRequest) -> tuple[ArtifactRequest, ArtifactLocation | None]:
        """The request with its path as ours, and where the file is; None for what is no file."""
        if isinstance(request, CreateArtifact):
            if request.path is None:
                return request, None
            path = check_changeable(host.workspace.folder, request.path)
            return msgspec.structs.replace(request, path=path), ArtifactLocation(host.workspace.folder, path)
        known = host.state.artifacts.open.get(request.artifact_id)
        if isinstance(request, DeleteArtifact) and not request.file:
            return request, None
        return request, locate_artifact(host, known)

    async def _seen(self, host: SessionHost, request: ArtifactRequest, place: ArtifactLocation | None) -> _FileState:
        """The very bytes: of the file as it is, and those that are to be in it."""
        there = None if place is None else await self._files.read(*place)
        return _FileState(there, await self._draft(host, request, place, there or b""))

    async def _asked(
        self, host: SessionHost, request: ArtifactRequest, place: ArtifactLocation | None, seen: _FileState
    ) -> ArtifactRequested:
        """The request with what its decision rests on, as it may be kept."""
        look = None if place is None else FileState(content=self._kept(seen.there))
        artifact = "" if isinstance(request, CreateArtifact) else request.artifact_id
        draft = self._kept(seen.draft)
        what = ArtifactRequested(
            session_id=request.session_id, artifact_id=artifact, request=request, draft=draft, file=look
        )
        if draft is None:
            return what
        if look is not None:
            old = None if look.content is None else look.content.data
        else:
            old = await self._newest(host, artifact)
        found = await asyncio.to_thread(compare, place.path if place is not None else "text", old, draft.data)
        return msgspec.structs.replace(what, added=found.added, removed=found.removed)

    async def _draft(
        self, host: SessionHost, request: ArtifactRequest, place: ArtifactLocation | None, there: bytes
    ) -> bytes | None:
        """The bytes that are to be saved, with values in place of the handles that are `there` as values."""
        match request:
            case CreateArtifact(content=str(text)) | EditArtifact(content=str(text)):
                text = reveal(text, self._secrets, there)
                return _utf8(text) if place is None else await self._files.encode(*place, text)
            case RollbackArtifact():
                found = await self._reads.content(request.session_id, request.artifact_id, request.version)
                return _revealed_bytes(found.data, self._secrets, there)
            case RetryArtifact():
                kept = host.state.artifacts.drafts.get(request.artifact_id)
                if kept is None:
                    return None
                draft = await self._reads.blob(kept.draft)
                return _revealed_bytes(draft.data, self._secrets, there)
            case _:
                return None

    async def _newest(self, host: SessionHost, artifact: str) -> bytes | None:
        known = host.state.artifacts.open.get(artifact)
        if known is None or known.version == 0:
            return None
        return (await self._reads.content(host.session, artifact, known.version)).data

    def _kept(self, data: bytes | None) -> Blob | None:
        """The bytes as they may be kept: with handles in place of values."""
        return None if data is None else to_blob(self._secrets.redact_bytes(data))

    @staticmethod
    def _refusal(host: SessionHost, answer: ArtifactChanged, done: ArtifactChangeReported | None = None) -> Refusal:
        if answer.status == "conflict" or done is None:
            known = host.state.artifacts.open.get(answer.artifact_id)
            newest = known.version if known is not None else answer.version
            return Refusal(
                "artifact_conflict", f"The newest version is {newest} by now.", field="baseVersion", hint=KEPT
            )
        code = "path_denied" if done.code == "path_denied" else "tool_failed"
        return Refusal(code, f"It was not saved: {done.message}", field="artifactId", hint=KEPT)


def reveal(text: str, secrets: Secrets, there: bytes) -> str:
    """The text with values in place of handles. One that the file has to the letter is what it reads: a person who saves a text
    that speaks of a handle puts no value there. Raises Refusal `secret_missing`, and `invalid_input` for a file that has a
    value as well, since nobody could tell which is meant."""
    spoken = {found[0] for found in _HANDLES.finditer(there)}
    if not spoken:
        return secrets.reveal(text)
    shown = secrets.redact_bytes(there)
    for handle in spoken:
        if _times(handle, shown) > _times(handle, there):
            raise Refusal(
                "invalid_input",
                f"The file has a secret and also the text {handle.decode()}: nobody could tell which of them is meant.",
                field="content",
                hint="Change it in an editor.",
            )
    pieces = _HANDLE.split(text)
    return "".join(one if one.encode() in spoken else secrets.reveal(one) for one in pieces)


def _times(handle: bytes, data: bytes) -> int:
    return sum(found[0] == handle for found in _HANDLES.finditer(data))


def _revealed_bytes(data: bytes, secrets: Secrets, there: bytes) -> bytes:
    if HANDLE.encode() not in data:
        return data
    try:
        return reveal(data.decode(), secrets, there).encode()
    except UnicodeDecodeError:
        return data


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refusal("invalid_input", "The content is not valid Unicode text.", field="content") from error


def _changed(answer: object) -> ArtifactChanged:
    if not isinstance(answer, ArtifactChanged):
        raise TypeError(f"a change of an artifact was answered with {type(answer).__name__}")
    return answer
