"""What could be configured and is not yet: keys in the environment, model servers of this machine, installed agents.

Nothing here leaves the machine, and nothing takes longer than half a second: all is looked for at once.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx2
import msgspec

from callboard.adapters.acp import installed_agents
from callboard.client.endpoint import loopback_context
from callboard.contracts.commands.model import FoundModel
from callboard.models.settings import ProviderSettings

from .providers import VENDORS

#: How long a server of this machine may take to answer, in seconds.
PATIENCE_S = 0.5
#: More names of models than that are not told.
_MOST_NAMES = 50
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ModelServer(msgspec.Struct, frozen=True):
    """Where a model server of this machine listens unless told otherwise, and where it lists its models."""

    name: str
    origin: str
    lists: str
    base: str = "/v1"


MODEL_SERVERS = (
    ModelServer("ollama", "http://127.0.0.1:11434", "/api/tags"),
    ModelServer("lm-studio", "http://127.0.0.1:1234", "/v1/models"),
    ModelServer("vllm", "http://127.0.0.1:8000", "/v1/models"),
    ModelServer("llama.cpp", "http://127.0.0.1:8080", "/v1/models"),
)
#: Gateways by the variable that their key is known by: where they are, and a model that each has.
GATEWAYS = (
    ("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openrouter/auto"),
    ("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat"),
    ("mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", "mistral-large-latest"),
    ("groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
)
#: Agents whose program does not speak the protocol itself, and what does it for them.
_BRIDGED = {"claude": ("Claude Code", "claude-agent-acp"), "codex": ("Codex", "codex-acp")}


class _Named(msgspec.Struct):
    """A model in a server's list: one says `name`, the others `id`."""

    name: str = ""
    id: str = ""


class _Listed(msgspec.Struct):
    models: tuple[_Named, ...] = ()
    data: tuple[_Named, ...] = ()


async def discover_models(
    environment: Mapping[str, str],
    configured: tuple[ProviderSettings, ...],
    places: tuple[ModelServer, ...] = MODEL_SERVERS,
    patience: float = PATIENCE_S,
) -> tuple[FoundModel, ...]:
    """All that is found, keys first. A server may take `patience` seconds to answer."""
    async with httpx2.AsyncClient(trust_env=False, verify=loopback_context(), timeout=patience) as http:
        looked, agents = await asyncio.gather(
            asyncio.gather(*(_server(place, configured, http, patience) for place in places)),
            asyncio.to_thread(_agents, environment.get("PATH", "")),
        )
    servers = (one for one in looked if one is not None)
    return (*_keys(environment, configured), *servers, *agents)


def _keys(environment: Mapping[str, str], configured: tuple[ProviderSettings, ...]) -> list[FoundModel]:
    used = {one.api_key for one in configured if one.api_key}
    found: list[FoundModel] = []
    for vendor in VENDORS:
        variable = next((one for one in vendor.variables if environment.get(one)), "")
        if variable:
            entry = _entry(vendor.name, vendor.name, vendor.model, variable)
            found.append(_key(entry, variable, environment[variable] in used))
    for name, variable, base_url, model in GATEWAYS:
        if environment.get(variable):
            entry = _entry(name, "openai-compatible", model, variable, base_url)
            found.append(_key(entry, variable, environment[variable] in used))
    return found


def _key(entry: dict[str, str], variable: str, configured: bool) -> FoundModel:
    return FoundModel(
        kind="key", name=entry["name"], where=variable, settings=_lines(entry), entry=entry, configured=configured
    )


async def _server(
    place: ModelServer, configured: tuple[ProviderSettings, ...], http: httpx2.AsyncClient, patience: float
) -> FoundModel | None:
    """The server, where one answers there as one of models does."""
    try:
        async with asyncio.timeout(patience):
            answer = await http.get(place.origin + place.lists)
        listed = msgspec.json.decode(answer.content, type=_Listed) if answer.is_success else None
    except (httpx2.HTTPError, TimeoutError, msgspec.MsgspecError):
        return None
    if listed is None:
        return None
    names = tuple(one.name or one.id for one in (*listed.models, *listed.data) if one.name or one.id)[:_MOST_NAMES]
    entry = _entry(place.name, "openai-compatible", names[0], "", place.origin + place.base) if names else {}
    return FoundModel(
        kind="server",
        name=place.name,
        where=place.origin,
        models=names,
        settings=_lines(entry) if entry else "",
        entry=entry,
        why="" if names else "It answers, and has no model yet: load one there.",
        configured=any(_same_place(one.base_url, place.origin) for one in configured),
    )


def _same_place(one: str, other: str) -> bool:
    first, second = urlsplit(one), urlsplit(other)
    hosts = {first.hostname or "", second.hostname or ""}
    return first.port == second.port and (len(hosts) == 1 or hosts <= _LOOPBACK)


def _agents(path: str) -> list[FoundModel]:
    """Coding agents on PATH, which take part as agents and not as models: the file of each stands for its settings."""
    there = [
        FoundModel(kind="agent", name=one.name, where=one.program, settings=one.definition)
        for one in installed_agents(path)
    ]
    named = {one.name for one in there}
    for program, (title, bridge) in _BRIDGED.items():
        where = shutil.which(program, path=path)
        if where is not None and not any(name.startswith(program) for name in named):
            why = f"{title} takes part through {bridge}, which is not on PATH: install it from npm."
            there.append(FoundModel(kind="agent", name=program, where=where, why=why))
    return there


def _entry(name: str, kind: str, model: str, variable: str, base_url: str = "") -> dict[str, str]:
    """An entry of `models`; what is not known of it is left out."""
    known = {"name": name, "kind": kind, "base_url": base_url, "model": model, "api_key_env": variable}
    return {key: value for key, value in known.items() if value}


def _lines(entry: dict[str, str]) -> str:
    lines = [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in entry.items()]
    return "\n".join(["[[models]]", *lines]) + "\n"
