"""Discovery of models and agents that are not configured: keys in the environment, local model servers, installed agents.

No request leaves the machine.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx2
import msgspec

from callboard.adapters.acp import detect_agents
from callboard.client.endpoint import build_loopback_context
from callboard.contracts.commands.model import DetectedSource
from callboard.models.settings import ProviderSettings

from .providers import VENDORS, find_first_set

#: Seconds that a model server may take to respond.
PATIENCE_SECONDS = 0.5
#: Maximum number of models listed for a server.
_MAX_NAMES = 50
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ModelServer(msgspec.Struct, frozen=True):
    """A product that serves models: its default origin, and the paths of its model list and its API."""

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
#: Gateways: name, variable of the key, base URL, and a model that the gateway offers.
GATEWAYS = (
    ("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openrouter/auto"),
    ("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat"),
    ("mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", "mistral-large-latest"),
    ("groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
)
#: Agents whose program does not speak ACP: title, and the bridge program that does.
_BRIDGED = {"claude": ("Claude Code", "claude-agent-acp"), "codex": ("Codex", "codex-acp")}


class _ListedModel(msgspec.Struct):
    """A model in a server's list. Ollama names it in `name`, the other servers in `id`."""

    name: str = ""
    id: str = ""


class _ModelListing(msgspec.Struct):
    models: tuple[_ListedModel, ...] = ()
    data: tuple[_ListedModel, ...] = ()


async def discover_models(
    environment: Mapping[str, str],
    configured: tuple[ProviderSettings, ...],
    servers: tuple[ModelServer, ...] = MODEL_SERVERS,
    patience: float = PATIENCE_SECONDS,
) -> tuple[DetectedSource, ...]:
    """Find models and agents, keys first. A server has `patience` seconds to respond."""
    async with httpx2.AsyncClient(trust_env=False, verify=build_loopback_context(), timeout=patience) as http:
        running, agents = await asyncio.gather(
            asyncio.gather(*(_find_server(server, configured, http, patience) for server in servers)),
            asyncio.to_thread(_find_agents, environment.get("PATH", "")),
        )
    return (*_find_keys(environment, configured), *filter(None, running), *agents)


def _find_keys(environment: Mapping[str, str], configured: tuple[ProviderSettings, ...]) -> list[DetectedSource]:
    used = {provider.api_key for provider in configured if provider.api_key}
    entries = [
        _build_entry(vendor.name, vendor.name, vendor.model, variable)
        for vendor in VENDORS
        if (variable := find_first_set(vendor.variables, environment))
    ]
    entries += [
        _build_entry(name, "openai-compatible", model, variable, base_url)
        for name, variable, base_url, model in GATEWAYS
        if environment.get(variable)
    ]
    return [
        DetectedSource(
            kind="key",
            name=entry["name"],
            where=entry["api_key_env"],
            settings=_to_toml(entry),
            entry=entry,
            configured=environment[entry["api_key_env"]] in used,
        )
        for entry in entries
    ]


async def _find_server(
    server: ModelServer, configured: tuple[ProviderSettings, ...], http: httpx2.AsyncClient, patience: float
) -> DetectedSource | None:
    """Return the server; None unless it responds with a list of models."""
    try:
        async with asyncio.timeout(patience):
            response = await http.get(server.origin + server.lists)
        listing = msgspec.json.decode(response.content, type=_ModelListing) if response.is_success else None
    except (httpx2.HTTPError, TimeoutError, msgspec.MsgspecError):
        return None
    if listing is None:
        return None
    names = tuple(filter(None, (model.name or model.id for model in (*listing.models, *listing.data))))[:_MAX_NAMES]
    entry = _build_entry(server.name, "openai-compatible", names[0], "", server.origin + server.base) if names else {}
    return DetectedSource(
        kind="server",
        name=server.name,
        where=server.origin,
        models=names,
        settings=_to_toml(entry) if entry else "",
        entry=entry,
        why="" if names else "The server is running but has no model. Load one there.",
        configured=any(_is_same_server(provider.base_url, server.origin) for provider in configured),
    )


def _is_same_server(url: str, origin: str) -> bool:
    left, right = urlsplit(url), urlsplit(origin)
    hosts = {left.hostname or "", right.hostname or ""}
    return left.port == right.port and (len(hosts) == 1 or hosts <= _LOOPBACK)


def _find_agents(path: str) -> list[DetectedSource]:
    """Return the coding agents on PATH. The settings of an agent are its definition file."""
    agents = [
        DetectedSource(kind="agent", name=agent.name, where=agent.program, settings=agent.definition)
        for agent in detect_agents(path)
    ]
    names = {agent.name for agent in agents}
    for program, (title, bridge) in _BRIDGED.items():
        where = shutil.which(program, path=path)
        if where is not None and not any(name.startswith(program) for name in names):
            why = f"{title} needs the bridge {bridge}, which is not on PATH. Install it from npm."
            agents.append(DetectedSource(kind="agent", name=program, where=where, why=why))
    return agents


def _build_entry(name: str, kind: str, model: str, variable: str, base_url: str = "") -> dict[str, str]:
    """Return an entry of `models`, without empty keys."""
    entry = {"name": name, "kind": kind, "base_url": base_url, "model": model, "api_key_env": variable}
    return {key: value for key, value in entry.items() if value}


def _to_toml(entry: dict[str, str]) -> str:
    lines = [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in entry.items()]
    return "\n".join(["[[models]]", *lines]) + "\n"
