"""Connections to remote agents over A2A."""

from __future__ import annotations

from callboard.contracts.ports.external import ExternalFailure, RemoteSession
from callboard.runtime.workspaces.installation import build_install_command

from .pace import Pace

MISSING = "A2A support is not installed."


class A2aAgents:
    """Implement the port `RemoteAgents`. The protocol library is loaded on first use.

    Args:
        pace: Timeouts and polling intervals.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self._pace = pace or Pace()

    async def connect(self, url: str, *, resume: str = "") -> RemoteSession:
        """Read the agent's card and open a session.

        Args:
            url: Address of the agent or of its card.
            resume: The agent's id of an earlier conversation; empty for a new one.
        Raises:
            ExternalFailure: `not_installed` without the extra `a2a`, `remote_unavailable` or `remote_refused`.
        """
        try:
            from a2a.client import ClientConfig, ClientFactory
            from a2a.utils.constants import TransportProtocol

            from .card import read_card
            from .session import A2aSession
            from .transport import build_client
        except ImportError as error:
            raise ExternalFailure(
                "not_installed", f"{MISSING} In a terminal: {build_install_command('a2a')}"
            ) from error
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
                client = ClientFactory(config).create(card)
            except ValueError as error:
                message = f"The agent at {url} supports neither JSON-RPC nor HTTP+JSON of A2A."
                raise ExternalFailure("remote_refused", message) from error
            return A2aSession(url, client, http, card, resume, self._pace)
        except BaseException:
            await http.aclose()
            raise
