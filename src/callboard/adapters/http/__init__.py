"""HTTP server: commands, queries, event streams and the page. The adapter makes no decisions and stores nothing."""

from __future__ import annotations

from .access import PageAccess, PageLink
from .app import HttpApp
from .dependencies import HttpDependencies
from .meta import DemoOffer, Meta, ModelOffer, WorkspaceOffer
from .server import HttpServer

__all__ = [
    "DemoOffer",
    "HttpApp",
    "HttpDependencies",
    "HttpServer",
    "Meta",
    "ModelOffer",
    "PageAccess",
    "PageLink",
    "WorkspaceOffer",
]
