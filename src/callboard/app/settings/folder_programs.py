"""The programs and scripts that a folder's own tool servers and hooks are started from. Trust in the folder is bound to them as
they are: they run outside of the sandbox, and an agent that may write in the folder may write them."""

from __future__ import annotations

import os
from typing import Literal

from callboard.contracts.settings import StdioServer
from callboard.tools.mcp.environment import environment
from callboard.tools.unsandboxed.binding import bind

from .folder import FolderFile, Program


class FolderPrograms:
    """Looks at them each time. A file is read again when it changed."""

    def of(self, folder: str, file: FolderFile) -> tuple[Program, ...]:
        """Return what the servers and hooks of the folder are started from, in order."""
        search = environment()["PATH"]
        root = f"{folder.rstrip('/')}/"
        servers = [one for one in file.says.servers if isinstance(one, StdioServer)]
        found: dict[str, Program] = {}
        for one in (*file.says.hooks, *servers):
            what: Literal["server", "hook"] = "server" if isinstance(one, StdioServer) else "hook"
            for bound in bind(one.command, one.env, folder, search).files:
                # The system's own programs are what the command names: its path is bound with the command.
                if bound.digest:
                    path = os.path.normpath(bound.path)
                    found[path] = Program(path.removeprefix(root), bound.digest, what, bound.resolved)
        return tuple(one for _, one in sorted(found.items()))
