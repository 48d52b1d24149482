"""The private folder in which processes of one user announce what they serve."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

_VARIABLE = "XDG_RUNTIME_DIR"


def private_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder for this process, made where it is missing; None where no folder can be trusted."""
    for place in _candidates(environment):
        try:
            place.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if is_private(place):
            return place
    return None


def private_folders(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield each folder that processes of this user announce in: not every process has the same environment."""
    return filter(is_private, dict.fromkeys(_candidates(environment)))


def is_private(folder: Path) -> bool:
    """Return whether only this user can write to the folder. A link is never private."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o077


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    user = os.geteuid()
    for named in (environment.get(_VARIABLE, ""), f"/run/user/{user}"):
        if named and is_private(Path(named)):
            yield Path(named, "callboard")
    yield Path(tempfile.gettempdir(), f"callboard-{user}")
