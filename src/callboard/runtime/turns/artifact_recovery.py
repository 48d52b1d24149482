"""Where the file of an artifact is, and what became of a change of it whose process has ended."""

from __future__ import annotations

from typing import NamedTuple

from callboard.contracts.errors import Refusal
from callboard.control.effects import SettleArtifact
from callboard.control.state.artifact import FileState, InterruptedSaveReported, OpenArtifact
from callboard.tools.builtin.folder_files import FolderFiles, to_blob

from ..sessions.host import SessionHost


class ArtifactLocation(NamedTuple):
    """Where an artifact's file is."""

    folder: str
    path: str


async def recover_artifact(host: SessionHost, effect: SettleArtifact) -> None:
    """Looks at the file whose change a process began that has ended since, and reports what it is."""
    save = host.state.artifacts.saves.get(effect.artifact)
    if save is None or save.epoch >= host.epoch:
        return
    place = locate_artifact(host, host.state.artifacts.open.get(effect.artifact))
    if place is None:
        await host.report(InterruptedSaveReported(artifact=effect.artifact, message="Its worktree is there no longer."))
        return
    try:
        data = await FolderFiles(host.dependencies.closed_folders).read(*place)
    except Refusal as refusal:
        await host.report(InterruptedSaveReported(artifact=effect.artifact, message=refusal.problem.message))
        return
    there = None if data is None else to_blob(host.dependencies.secrets.redact_bytes(data))
    await host.report(InterruptedSaveReported(artifact=effect.artifact, file=FileState(content=there)))


def locate_artifact(host: SessionHost, known: OpenArtifact | None) -> ArtifactLocation | None:
    """Where the file of an artifact is; None for what is no file, and for a worktree that is there no longer."""
    if known is None or not known.path:
        return None
    if not known.worktree:
        return ArtifactLocation(host.workspace.folder, known.path)
    thread = host.state.threads.get(known.worktree)
    child = thread.child if thread is not None else None
    return None if child is None or not child.worktree else ArtifactLocation(child.worktree, known.path)
