"""A runtime whose folder has its own settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.agents.folder import FolderDefinitions
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.commands.permission import GetTrust, TrustChanged, TrustRead, TrustWorkspace
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime


@asynccontextmanager
async def open_with_settings(
    place: Path, scenario: dict[str, Any], text: str = "", user: str = "", **more: Any
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime with these settings of its folder and user."""
    state_folder = StateFolder(place / "user")
    state_folder.create()
    if user or not state_folder.settings.exists():
        state_folder.settings.write_text(user)
    (place / "work").mkdir(exist_ok=True)
    if text:
        write_folder_settings(place / "work", text)
    book = SettingsFiles(state_folder, {}, FolderDefinitions())
    async with open_runtime(place, scenario, settings=book, **more) as running:
        yield running


def write_folder_settings(folder: Path, text: str) -> None:
    """Replace the folder's settings."""
    (folder / ".callboard").mkdir(exist_ok=True)
    (folder / ".callboard" / "settings.toml").write_text(text)


async def read_trust(rig: RuntimeRig) -> TrustRead:
    """Return the permissions that the folder's files request."""
    return await rig.do(GetTrust(workspace_id=rig.workspace))


async def trust_folder(rig: RuntimeRig) -> TrustChanged:
    """Trust the folder as shown."""
    read = await read_trust(rig)
    return await rig.do(TrustWorkspace(workspace_id=rig.workspace, digest=read.digest, reason="read it"))
