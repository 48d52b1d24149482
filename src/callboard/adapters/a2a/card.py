"""Agent Cards: read at the address that a person allowed, within bounds. A card may name its interfaces on its own origin only:
what was allowed is that address, and nothing that a card says widens it."""

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
from callboard.contracts.text.redactor import without_secrets

#: The largest card that is read, in bytes.
LARGEST_CARD = 256 * 1024
_PORTS = {"http": 80, "https": 443}


def card_url(url: str) -> str:
    """Where the card is: at the address itself where that names a JSON file, else at the well-known path below it."""
    parts = urlsplit(url)
    if parts.path.endswith(".json") or parts.query:
        return url
    return f"{url.rstrip('/')}{AGENT_CARD_WELL_KNOWN_PATH}"


async def read_card(http: httpx.AsyncClient, url: str, seconds: float) -> AgentCard:
    """The card, with those of its interfaces that are of the address's origin. Raises ExternalFailure `remote_unavailable`,
    `remote_refused`."""
    where = card_url(url)
    try:
        async with asyncio.timeout(seconds):
            data = await _fetch(http, where)
    except TimeoutError as error:
        message = f"The card at {where} did not come within {seconds:g} s."
        raise ExternalFailure("remote_unavailable", message, retryable=True) from error
    except httpx.HTTPError as error:
        message = f"{where} is not reached: {without_secrets(str(error)[:300]).rstrip('.') or type(error).__name__}."
        raise ExternalFailure("remote_unavailable", message, retryable=True) from error
    try:
        held: Any = json.loads(data)
        card = parse_agent_card(held)
    except (ParseError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ExternalFailure("remote_refused", f"What is at {where} is no Agent Card.") from error
    return _of_one_origin(card, where)


def card_json(card: AgentCard) -> str:
    """The card as it is kept."""
    return json.dumps(MessageToDict(card), ensure_ascii=False, separators=(",", ":"))


async def _fetch(http: httpx.AsyncClient, where: str) -> bytes:
    async with http.stream("GET", where, headers={"Accept": "application/json"}) as response:
        if response.is_redirect:
            to = str(response.headers.get("location", "somewhere else"))[:200]
            raise ExternalFailure("remote_refused", f"{where} redirects to {to}, which nobody allowed to be contacted.")
        if response.status_code != 200:
            down = response.status_code >= 500
            message = f"There is no card at {where} (HTTP {response.status_code})."
            raise ExternalFailure("remote_unavailable" if down else "remote_refused", message, retryable=down)
        data = b""
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > LARGEST_CARD:
                raise ExternalFailure("remote_refused", f"The card at {where} has more than {LARGEST_CARD} bytes.")
        return data


def _of_one_origin(card: AgentCard, where: str) -> AgentCard:
    own = _origin(where)
    every = list(card.supported_interfaces)
    same = [one for one in every if _origin(one.url) == own and "@" not in urlsplit(one.url).netloc]
    if every and not same:
        message = (
            f"The card at {where} sends to {every[0].url[:200]}, another origin, which nobody allowed to be contacted."
        )
        raise ExternalFailure("remote_refused", message)
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(same)
    return card


def _origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        return (scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)) if scheme in _PORTS else None
    except ValueError:
        return None
