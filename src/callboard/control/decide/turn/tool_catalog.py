"""Tool catalogs and states of tool servers, recorded when they change."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.contracts.entities.tool_inventory import ServerState
from callboard.contracts.facts.tool import ToolCatalogResolved, ToolServerConnected, ToolServerLost
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...decision_inputs import ToolCatalog
from ...evolve.tool import encode_server_state


def record_catalog(
    batch: Batch, thread_id: str, catalog: ToolCatalog | None, scope: Scope, added: tuple[str, ...] = ()
) -> None:
    """Record the agent's tools from here on, if they changed."""
    if catalog is None or (batch.get_thread(thread_id).catalog == catalog.blob.ref.hash and not added):
        return
    batch.add_blobs(catalog.blob)
    batch.add(
        ToolCatalogResolved(
            catalog=catalog.blob.ref,
            loaded=catalog.loaded,
            deferred=catalog.deferred,
            blocked=catalog.blocked,
            excluded=catalog.excluded,
            added=added,
        ),
        scope,
    )


def record_servers(batch: Batch, servers: Sequence[ServerState], scope: Scope) -> None:
    """Record tool servers that connected, changed or were lost. A server without a response yet is
    skipped."""
    for server in servers:
        fact = _build_server_fact(server)
        if fact is not None and batch.state.servers.get(server.name) != encode_server_state(fact):
            batch.add(fact, scope)


def _build_server_fact(server: ServerState) -> ToolServerConnected | ToolServerLost | None:
    match server.condition:
        case "connected":
            return ToolServerConnected(
                server=server.name,
                title=server.title,
                version=server.version,
                protocol=server.protocol,
                tools=server.tools,
                refused=server.refused,
            )
        case "lost":
            return ToolServerLost(server=server.name, code=server.code, message=server.message)
        case _:
            return None
