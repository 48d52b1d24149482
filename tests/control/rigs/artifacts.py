"""Artifacts as deciders are given them: files that calls changed, and what a person asks."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.commands.artifact import EditArtifact
from callboard.contracts.content import Blob, BlobRef, make_blob
from callboard.contracts.entities.artifact import VersionOrigin
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ToolEnded
from callboard.control.state.artifact import ArtifactChangeReported, ArtifactRequest, ArtifactRequested, FileState
from tests.control.rigs.decisions import Given, given
from tests.control.rigs.examples import SESSION, THREAD, answered, at, says, submit, wants

CALL = at(turn=1, run=1, step=2, call=1)
MADE = msgspec.structs.replace(CALL, artifact="art_1")
MINE = Scope(artifact="art_1")
PATH = "a.md"


def text(said: str) -> Blob:
    return make_blob(said.encode())


ONE, TWO, THREE = text("one"), text("two"), text("three")


def change(after: Blob | None, before: Blob | None = None, path: str = PATH) -> FileChange:
    return FileChange(
        path=path,
        kind="deleted" if after is None else "created" if before is None else "modified",
        added=1,
        removed=0 if before is None else 1,
        before=None if before is None else before.ref,
        after=None if after is None else after.ref,
    )


def wrote(*changes: FileChange, call: int = 1, brought: tuple[FileChange, ...] = ()) -> ToolEnded:
    outcome = ToolOutcome(output="done", duration_ms=4, changes=changes)
    return ToolEnded(thread=THREAD, run="run_1", call=f"cal_{call}", outcome=outcome, merged_changes=brought)


def version(
    number: int, content: BlobRef, origin: VersionOrigin = "agent", *, lines: tuple[int, int] = (0, 0), **more: object
) -> ArtifactVersionCreated:
    told = {"path": PATH, "base": number - 1, **more}
    return ArtifactVersionCreated(
        version=number, content=content, version_origin=origin, added=lines[0], removed=lines[1], **told
    )


def calling(*before: FileChange) -> Given:
    """A run whose first call changed these files, and whose second one runs."""
    session = given(submit(mode="auto"), answered(wants(1, 2)), wrote(*before))
    return session.after(answered(wants(2, 4), step=3))


def kept() -> Given:
    """An artifact of one version, and nothing under way."""
    return given(submit(), answered(wants(1, 2)), wrote(change(ONE)), says("Done.", step=3))


def ask(
    request: ArtifactRequest, draft: Blob | None = None, there: Blob | None = ONE, **more: Any
) -> ArtifactRequested:
    artifact = getattr(request, "artifact_id", "")
    return ArtifactRequested(
        session_id=SESSION, artifact_id=artifact, request=request, draft=draft, file=FileState(content=there), **more
    )


def edit(base: int = 1, content: str = "two") -> EditArtifact:
    return EditArtifact(session_id=SESSION, artifact_id="art_1", base_version=base, content=content)


def done(code: str = "", there: Blob | None = None) -> ArtifactChangeReported:
    look = FileState(content=there) if code else None
    return ArtifactChangeReported(session_id=SESSION, artifact_id="art_1", code=code, message="No room.", file=look)
