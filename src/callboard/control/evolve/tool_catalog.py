"""Tools and the servers that bring them, as they were told last."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import ToolCatalogResolved, ToolServerConnected, ToolServerLost

from ..state.session import OpenRun, Session
from .fact_context import FactContext, change_run, change_thread


def resolved(state: Session, fact: ToolCatalogResolved, place: FactContext) -> Session:
    def grow(run: OpenRun) -> OpenRun:
        return msgspec.structs.replace(run, tools=tuple(dict.fromkeys((*run.tools, *fact.added))))

    told = change_thread(state, place, lambda thread: msgspec.structs.replace(thread, catalog=fact.catalog.hash))
    return change_run(told, place, grow) if fact.added else told


def server(state: Session, fact: ToolServerConnected | ToolServerLost) -> Session:
    return msgspec.structs.replace(state, servers={**state.servers, fact.server: seen(fact)})


def seen(fact: ToolServerConnected | ToolServerLost) -> str:
    """What was told of a server, in one text: the same for the same."""
    return msgspec.json.encode((fact.type, fact)).decode()
