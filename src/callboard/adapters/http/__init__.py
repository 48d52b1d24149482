"""HTTP server: commands, queries, event streams and the page. The adapter makes no decisions and stores nothing.

Modules:
    dependencies: The runtime behind the routes.
    requests: Decoding of bodies, queries and headers.
    problems: Refusals as responses: the table of statuses, and incidents.
    commands: One route for each command and query, built from their table.
    rpc: JSON-RPC over the same commands.
    streams: Responses of server-sent events.
    feeds: Facts and row operations of a session or workspace, as streams or pages.
    vocabularies: Facts of a session as events of other specifications.
    blobs: Large content by range.
    uploads: Attached files.
    agentruns: Routes of the Multi-agent runtime specification.
    meta: Description of the server.
    openapi: OpenAPI 3.1 document of all routes.
    access: Credentials and confirmations of the page.
    guard: Checks of host, origin and credential before any route.
    headers: Security headers of every response.
    connections: Limits on open connections.
    failures: Exceptions as responses.
    static: The built page.
    app: The ASGI application.
    server: The listening server.
"""

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
