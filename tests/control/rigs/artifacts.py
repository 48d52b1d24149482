"""Changes of files by tool calls, and artifact requests of a person."""

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
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import SESSION, THREAD, at, model_response, requested_call, submit, text_response

CALL = at(turn=1, run=1, step=2, call=1)
CALL_ARTIFACT = msgspec.structs.replace(CALL, artifact="art_1")
ARTIFACT = Scope(artifact="art_1")
PATH = "a.md"


def text_blob(content: str) -> Blob:
    return make_blob(content.encode())


FIRST_TEXT, SECOND_TEXT, THIRD_TEXT = text_blob("one"), text_blob("two"), text_blob("three")


def file_change(after: Blob | None, before: Blob | None = None, path: str = PATH) -> FileChange:
    return FileChange(
        path=path,
        kind="deleted" if after is None else "created" if before is None else "modified",
        added=1,
        removed=0 if before is None else 1,
        before=None if before is None else before.ref,
        after=None if after is None else after.ref,
    )


def write_end(*changes: FileChange, call: int = 1, merged: tuple[FileChange, ...] = ()) -> ToolEnded:
    outcome = ToolOutcome(output="done", duration_ms=4, changes=changes)
    return ToolEnded(thread=THREAD, run="run_1", call=f"cal_{call}", outcome=outcome, merged_changes=merged)


def version_created(
    number: int, content: BlobRef, origin: VersionOrigin = "agent", *, lines: tuple[int, int] = (0, 0), **more: object
) -> ArtifactVersionCreated:
    fields = {"path": PATH, "base": number - 1, **more}
    return ArtifactVersionCreated(
        version=number, content=content, version_origin=origin, added=lines[0], removed=lines[1], **fields
    )


def session_in_second_call(*before: FileChange) -> Scenario:
    """Return a session whose first call changed these files and whose second call runs."""
    session = session_after(submit(mode="auto"), model_response(requested_call(1, 2)), write_end(*before))
    return session.after(model_response(requested_call(2, 4), step=3))


def session_with_artifact() -> Scenario:
    """Return an idle session with an artifact of one version."""
    return session_after(
        submit(),
        model_response(requested_call(1, 2)),
        write_end(file_change(FIRST_TEXT)),
        text_response("Done.", step=3),
    )


def artifact_request(
    request: ArtifactRequest, draft: Blob | None = None, on_disk: Blob | None = FIRST_TEXT, **more: Any
) -> ArtifactRequested:
    artifact = getattr(request, "artifact_id", "")
    return ArtifactRequested(
        session_id=SESSION, artifact_id=artifact, request=request, draft=draft, file=FileState(content=on_disk), **more
    )


def edit_artifact(base: int = 1, content: str = "two") -> EditArtifact:
    return EditArtifact(session_id=SESSION, artifact_id="art_1", base_version=base, content=content)


def change_reported(code: str = "", on_disk: Blob | None = None) -> ArtifactChangeReported:
    file = FileState(content=on_disk) if code else None
    return ArtifactChangeReported(session_id=SESSION, artifact_id="art_1", code=code, message="No room.", file=file)
