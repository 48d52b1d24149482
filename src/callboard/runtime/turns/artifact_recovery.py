"""The file of an artifact, and recovery of a change that its process did not finish."""

from __future__ import annotations

from typing import NamedTuple

from callboard.contracts.errors import Refusal
from callboard.control.effects import SettleArtifact
from callboard.control.state.artifact import FileState, InterruptedSaveReported, OpenArtifact
from callboard.tools.builtin.folder_files import FolderFiles, to_blob

from ..sessions.host import SessionHost


class ArtifactLocation(NamedTuple):
    """The folder and path of an artifact's file."""

    folder: str
    path: str


async def recover_artifact(host: SessionHost, effect: SettleArtifact) -> None:
    """Read the file of an unfinished change of an ended process, and report its content."""
    save = host.state.artifacts.saves.get(effect.artifact)
    if save is None or save.epoch >= host.epoch:
        return
    location = locate_artifact(host, host.state.artifacts.open.get(effect.artifact))
    if location is None:
        await host.report(InterruptedSaveReported(artifact=effect.artifact, message="The worktree no longer exists."))
        return
    try:
        data = await FolderFiles(host.dependencies.closed_folders).read(*location)
    except Refusal as refusal:
        await host.report(InterruptedSaveReported(artifact=effect.artifact, message=refusal.problem.message))
        return
    content = None if data is None else to_blob(host.dependencies.secrets.redact_bytes(data))
    await host.report(InterruptedSaveReported(artifact=effect.artifact, file=FileState(content=content)))


def locate_artifact(host: SessionHost, artifact: OpenArtifact | None) -> ArtifactLocation | None:
    """Return where the artifact's file is. None if it has no file or its worktree is gone."""
    if artifact is None or not artifact.path:
        return None
    if not artifact.worktree:
        return ArtifactLocation(host.workspace.folder, artifact.path)
    thread = host.state.threads.get(artifact.worktree)
    child = thread.child if thread is not None else None
    return None if child is None or not child.worktree else ArtifactLocation(child.worktree, artifact.path)
