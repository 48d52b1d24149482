"""Private paths of a home around one command.

Mounts cover existing paths. A missing path has no mount: an empty `.bash_profile` would change how
a shell starts. So missing paths are checked after the command, and new ones are renamed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

_Identity = tuple[int, int]


class PrivatePaths:
    """Current state of the private paths in a folder.

    Example:
        before = PrivatePaths("/home/ann", ("/home/ann/.zshrc",))
        before.list_new()  # [".zshrc"] if a command created it in the meantime
    """

    def __init__(self, folder: str, paths: Iterable[str]) -> None:
        self._root = folder.rstrip("/")
        relative_paths = (
            path[len(self._root) + 1 :] for path in dict.fromkeys(paths) if path.startswith(f"{self._root}/")
        )
        self._before = {path: self._identify(path) for path in relative_paths}
        parents = (part for path in self._before for part in _list_parents(path))
        self._links = {path: self._read_link(path) for path in dict.fromkeys(parents)}

    def list_new(self) -> list[str]:
        """Return the relative paths that a command may have created."""
        new = [path for path, before in self._links.items() if self._read_link(path) not in ("", before)]
        for path, before in self._before.items():
            now = self._identify(path)
            # The user's programs replace these files too. A file that existed in this folder was under a mount.
            if now is not None and now != before:
                parent, _, name = f"{self._root}/{path}".rpartition("/")
                full = f"{os.path.realpath(parent)}/{name}"
                new += [full[len(self._root) + 1 :]] if full.startswith(f"{self._root}/") else []
        return new

    def _identify(self, path: str) -> tuple[_Identity, str] | None:
        """Return the identity of the parent, and the target of a link; None if the path does not exist."""
        full = f"{self._root}/{path}"
        try:
            os.lstat(full)
            parent = os.stat(full.rpartition("/")[0])  # noqa: PTH116
        except OSError:
            return None
        return (parent.st_dev, parent.st_ino), self._read_link(path)

    def _read_link(self, path: str) -> str:
        """Return the target of a link; empty for other files."""
        try:
            return os.readlink(f"{self._root}/{path}")  # noqa: PTH115
        except OSError:
            return ""


def list_programs_in(folder: str, programs: Sequence[str], user_home: str, search: str) -> tuple[str, ...]:
    """Return the folders of programs in a folder, which commands must not write.

    Args:
        programs: Toolchain folders.
        user_home: The user's home. If it is in the folder, the whole search path is included.
        search: The search path, with `:` between its folders.
    """
    root = folder.rstrip("/")
    contains_home = f"{os.path.realpath(user_home)}/".startswith(f"{root}/")
    folders = (*programs, *(search.split(":") if contains_home else ()))
    paths = dict.fromkeys(part for path in folders if path for part in (path.rstrip("/"), os.path.realpath(path)))
    return tuple(path for path in paths if path.startswith(f"{root}/"))


def _list_parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
