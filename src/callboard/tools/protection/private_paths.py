"""Private paths of a home around one command: a missing path must not be created.

A mount covers an existing path. A mount needs a place, and an empty `.bash_profile` would change
how a shell starts. So missing paths are checked after the command, and new ones are renamed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

_Identity = tuple[int, int]


class PrivatePaths:
    """Private paths in a folder as they are now. Paths outside the folder are left out.

    Example:
        before = Private("/home/ann", ("/home/ann/.zshrc",))
        before.appeared()  # [".zshrc"] if a command made it meanwhile
    """

    def __init__(self, folder: str, paths: Iterable[str]) -> None:
        self._root = folder.rstrip("/")
        inside = (one[len(self._root) + 1 :] for one in dict.fromkeys(paths) if one.startswith(f"{self._root}/"))
        self._before = {one: self._look(one) for one in inside}
        above = (part for one in self._before for part in _above(one))
        self._links = {one: self._link(one) for one in dict.fromkeys(above)}

    def list_new(self) -> list[str]:
        """Return the paths, relative to the folder, where something is now that a command could have put there."""
        made = [one for one, before in self._links.items() if self._link(one) not in ("", before)]
        for one, before in self._before.items():
            now = self._look(one)
            # A person's own programs replace these files as well: another file in the same folder was under a mount.
            if now is not None and now != before:
                where, _, name = f"{self._root}/{one}".rpartition("/")
                full = f"{os.path.realpath(where)}/{name}"
                made += [full[len(self._root) + 1 :]] if full.startswith(f"{self._root}/") else []
        return made

    def _look(self, path: str) -> tuple[_Identity, str] | None:
        """Return the folder that holds what is there, and where a link leads; None where nothing is."""
        full = f"{self._root}/{path}"
        try:
            os.lstat(full)
            above = os.stat(full.rpartition("/")[0])  # noqa: PTH116
        except OSError:
            return None
        return (above.st_dev, above.st_ino), self._link(path)

    def _link(self, path: str) -> str:
        """Return where a link leads; empty for what is no link."""
        try:
            return os.readlink(f"{self._root}/{path}")  # noqa: PTH115
        except OSError:
            return ""


def list_programs_in(folder: str, programs: Sequence[str], home: str, search: str) -> tuple[str, ...]:
    """Return the folders of programs in a folder that no command may write.

    Args:
        programs: Folders of toolchains.
        home: The person's home. Where it is in the folder, all of the search path is protected.
        search: The search path, with `:` between its folders.
    """
    root = folder.rstrip("/")
    broad = f"{os.path.realpath(home)}/".startswith(f"{root}/")
    named = (*programs, *(search.split(":") if broad else ()))
    every = dict.fromkeys(part for one in named if one for part in (one.rstrip("/"), os.path.realpath(one)))
    return tuple(one for one in every if one.startswith(f"{root}/"))


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
