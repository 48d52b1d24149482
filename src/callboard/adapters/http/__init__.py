"""How others speak to it over HTTP: commands, reads, streams of server-sent events, and the page.

    ports       what the adapter is given
    problems    refusals as answers: the one table of statuses, faults of HTTP itself, incidents
    reading     bodies, queries and headers as commands; what does not fit is a named error with its field
    commands    one route a command, from the table of commands and nothing else
    streams     server-sent events to clients of any speed, ended at once when the client or the server goes
    feeds       facts and row operations of a session or workspace, as streams or pages
    blobs       large content by range
    agentruns   the contract of the Multi-agent runtime specification, in its own casing
    meta        what the server says of itself
    openapi     OpenAPI 3.1 of all of this
    access      how the page gets a credential, and what it must confirm
    guard       host, origin and credential, before anything else is looked at
    headers     what protects every answer
    connections bounds on open connections, with and without a credential
    failures    whatever is raised becomes an answer
    static      the built page
    app         these put together
    server      the app on a socket of its own, started and stopped inside the program's event loop

It decides nothing and keeps nothing: what it knows is in the requests, the ports and the built page.
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
