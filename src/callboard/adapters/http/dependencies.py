"""Dependencies of the HTTP adapter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from callboard.contracts.ports.runtime import CommandService, Feeds, RunReads
from callboard.contracts.ports.store import Store
from callboard.contracts.ports.uploads import Uploads

from .access import PageAccess
from .meta import Meta

#: The folder that the package build writes the page to.
PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True)
class HttpDependencies:
    """The runtime behind the routes. Only facts and blobs of the store are read.

    Attributes:
        read_meta: Returns the description of the server.
        token: The API token. It grants full access.
        access: Credentials of pages, which replace the token.
        page: Folder of the built page.
        keep_alive: Silence on a stream, in seconds, after which a comment is sent.
        uploads: Storage of attachments. Without it uploads are refused.
    """

    commands: CommandService
    feeds: Feeds
    runs: RunReads
    store: Store
    read_meta: Callable[[], Awaitable[Meta]]
    token: str
    access: PageAccess = field(default_factory=PageAccess)
    page: Path = PAGE
    keep_alive: float = 15.0
    uploads: Uploads | None = None
