"""Reaches agents elsewhere. The library of the protocol is loaded when the first one is reached."""

from __future__ import annotations

from callboard.contracts.ports.external import ExternalFailure, RemoteSession
from callboard.runtime.workspaces.installation import installs

from .pace import Pace

MISSING = "A2A is not installed here."


class A2aAgents:
    """Implements the port `RemoteAgents`."""

    def __init__(self, pace: Pace | None = None) -> None:
        self._pace = pace or Pace()

    async def reach(self, url: str, *, resume: str = "") -> RemoteSession:
        """Reads the card at the address. Raises ExternalFailure `not_installed` without the extra `a2a`,
        `remote_unavailable`, `remote_refused`."""
        try:
            from a2a.client import ClientConfig, ClientFactory
            from a2a.utils.constants import TransportProtocol

            from .bounded import build_client
            from .card import read_card
            from .session import A2aSession
        except ImportError as error:
            raise ExternalFailure("not_installed", f"{MISSING} In a terminal: {installs('a2a')}") from error
        http = build_client(self._pace.request)
        try:
            card = await read_card(http, url, self._pace.card)
            config = ClientConfig(
                streaming=True,
                polling=not card.capabilities.streaming,
                httpx_client=http,
                supported_protocol_bindings=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON],
            )
            try:
                made = ClientFactory(config).create(card)
            except ValueError as error:
                message = f"The agent at {url} speaks neither JSON-RPC nor HTTP+JSON of A2A."
                raise ExternalFailure("remote_refused", message) from error
            return A2aSession(url, made, http, card, resume, self._pace)
        except BaseException:
            await http.aclose()
            raise
