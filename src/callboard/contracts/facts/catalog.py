"""Facts of what tools there are: the catalog that an agent has, and the servers that bring tools."""

from __future__ import annotations

from typing import ClassVar

from ..content import BlobRef
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact


class ToolCatalogResolved(Fact, frozen=True, kw_only=True):
    """Which tools an agent has from here on, where that differs from what it had. `catalog` holds each with its
    availability and reason, as JSON (`contracts.inventory.ToolInfo`). `added` are those that the run is told of beside what it
    began with, because it looked for them."""

    type: ClassVar[str] = "tool.catalog.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    catalog: BlobRef
    loaded: int
    deferred: int = 0
    blocked: int = 0
    excluded: int = 0
    added: tuple[str, ...] = ()


class ToolServerConnected(Fact, frozen=True, kw_only=True):
    """A server of tools answered. `server` is its name in the settings, `title` and `version` are its own words; so many tools
    it has, of which `refused` could not be taken."""

    type: ClassVar[str] = "tool.server.connected"
    erased: ClassVar[ErasedForm] = {"server": UNKNOWN}
    server: str
    title: str = ""
    version: str = ""
    protocol: str = ""
    tools: int = 0
    refused: int = 0


class ToolServerLost(Fact, frozen=True, kw_only=True):
    """A server of tools could not be reached, ended, or broke its protocol. Its tools are blocked until it is there again."""

    type: ClassVar[str] = "tool.server.lost"
    erased: ClassVar[ErasedForm] = {"server": UNKNOWN, "code": UNKNOWN, "message": ""}
    server: str
    code: str
    message: str


CatalogFact = ToolCatalogResolved | ToolServerConnected | ToolServerLost
