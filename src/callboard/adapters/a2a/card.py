"""Agent Cards: read from the approved address, limited in size and to interfaces of the same origin."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from google.protobuf.json_format import MessageToDict, ParseError

from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.text.redactor import mask_secrets

#: The largest accepted card, in bytes.
MAX_CARD_BYTES = 256 * 1024
_PORTS = {"http": 80, "https": 443}


def build_card_url(url: str) -> str:
    """Return the address of the card: `url` if it names a JSON file, else the well-known path below it."""
    parts = urlsplit(url)
    if parts.path.endswith(".json") or parts.query:
        return url
    return f"{url.rstrip('/')}{AGENT_CARD_WELL_KNOWN_PATH}"


async def read_card(http: httpx.AsyncClient, url: str, seconds: float) -> AgentCard:
    """Read a card and keep only the interfaces of the same origin as its address.

    Args:
        seconds: Time limit of the whole request.
    Raises:
        ExternalFailure: `remote_unavailable` or `remote_refused`.
    """
    address = build_card_url(url)
    try:
        async with asyncio.timeout(seconds):
            data = await _fetch(http, address)
    except TimeoutError as error:
        message = f"Reading the card at {address} took more than {seconds:g} s."
        raise ExternalFailure("remote_unavailable", message, retryable=True) from error
    except httpx.HTTPError as error:
        reason = mask_secrets(str(error)[:300]).rstrip(".") or type(error).__name__
        raise ExternalFailure("remote_unavailable", f"Cannot reach {address}: {reason}.", retryable=True) from error
    try:
        content: Any = json.loads(data)
        card = parse_agent_card(content)
    except (ParseError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ExternalFailure("remote_refused", f"Invalid Agent Card at {address}.") from error
    return _restrict_to_origin(card, address)


def encode_card(card: AgentCard) -> str:
    """Return the card as JSON, as it is stored."""
    return json.dumps(MessageToDict(card), ensure_ascii=False, separators=(",", ":"))


async def _fetch(http: httpx.AsyncClient, address: str) -> bytes:
    async with http.stream("GET", address, headers={"Accept": "application/json"}) as response:
        if response.is_redirect:
            target = str(response.headers.get("location", "an unnamed address"))[:200]
            message = f"{address} redirects to {target}, an address without approval."
            raise ExternalFailure("remote_refused", message)
        if response.status_code != 200:
            is_down = response.status_code >= 500
            message = f"There is no card at {address} (HTTP {response.status_code})."
            raise ExternalFailure("remote_unavailable" if is_down else "remote_refused", message, retryable=is_down)
        data = b""
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > MAX_CARD_BYTES:
                raise ExternalFailure("remote_refused", f"The card at {address} has more than {MAX_CARD_BYTES} bytes.")
        return data


def _restrict_to_origin(card: AgentCard, address: str) -> AgentCard:
    """Remove interfaces of other origins: the approval covers this origin only."""
    origin = _parse_origin(address)
    interfaces = list(card.supported_interfaces)
    allowed = [
        interface
        for interface in interfaces
        if _parse_origin(interface.url) == origin and "@" not in urlsplit(interface.url).netloc
    ]
    if interfaces and not allowed:
        target = interfaces[0].url[:200]
        message = f"The card at {address} names only interfaces of other origins, such as {target}, without approval."
        raise ExternalFailure("remote_refused", message)
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(allowed)
    return card


def _parse_origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        return (scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)) if scheme in _PORTS else None
    except ValueError:
        return None
