"""What the adapter is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from callboard.contracts.ports.runtime import CommandService, Feeds, RunReads
from callboard.contracts.ports.store import Store
from callboard.contracts.ports.uploads import Uploads

from .access import PageAccess
from .meta import Meta

#: Where the package build puts the page.
PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True)
class HttpDependencies:
    """The runtime behind the routes. Of the store only facts and blobs are read.

    `token` opens everything; `access` is what pages get in its place; `page` is the folder of the built page; `keep_alive` is
    the silence in seconds after which a stream says that it is still there. Without `uploads` nothing can be attached.
    """

    commands: CommandService
    feeds: Feeds
    runs: RunReads
    store: Store
    about: Callable[[], Awaitable[Meta]]
    token: str
    access: PageAccess = field(default_factory=PageAccess)
    page: Path = PAGE
    keep_alive: float = 15.0
    uploads: Uploads | None = None
