"""The model catalogue: configured models, discovered models, and the test of a model."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.app.models.discovery import ModelServer, discover_models
from callboard.app.models.keys import reveal_on_demand
from callboard.app.models.model_catalog import ModelCatalog
from callboard.contracts.commands.model import ConfiguredModel, DetectedSource
from callboard.contracts.errors import Refusal
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from tests.models.servers import KEY, aimock

#: Seconds: a busy machine is slow.
PATIENCE = 30.0


@contextmanager
def serving(answers: dict[str, str], media: str = "application/json") -> Iterator[str]:
    """Run a local server that answers these paths."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("content-type", media)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


TAGS = json.dumps({"models": [{"name": "qwen3:8b", "size": 1}, {"name": "llama3"}]})
LIST = json.dumps({"object": "list", "data": [{"id": "local-model", "object": "model"}]})


async def test_a_local_model_server_is_discovered_with_its_models_and_settings():
    with serving({"/api/tags": TAGS, "/v1/models": LIST}) as origin:
        places = (ModelServer("ollama", origin, "/api/tags"), ModelServer("lm-studio", origin, "/v1/models"))
        ollama, studio = await discover_models({}, (), places, PATIENCE)
    assert ollama == DetectedSource(
        kind="server",
        name="ollama",
        where=origin,
        models=("qwen3:8b", "llama3"),
        settings=f'[[models]]\nname = "ollama"\nkind = "openai-compatible"\nbase_url = "{origin}/v1"\nmodel = "qwen3:8b"\n',
        entry={"name": "ollama", "kind": "openai-compatible", "base_url": f"{origin}/v1", "model": "qwen3:8b"},
    )
    assert (studio.name, studio.models) == ("lm-studio", ("local-model",))


async def test_a_configured_server_is_recognised_by_any_name_of_this_machine():
    with serving({"/api/tags": TAGS}) as origin:
        named = ProviderSettings(name="x", base_url=f"{origin.replace('127.0.0.1', 'localhost')}/v1", models=("m",))
        (server,) = await discover_models({}, (named,), (ModelServer("ollama", origin, "/api/tags"),), PATIENCE)
    assert server.configured


async def test_a_server_without_a_model_reports_it():
    with serving({"/api/tags": '{"models": []}'}) as origin:
        (server,) = await discover_models({}, (), (ModelServer("ollama", origin, "/api/tags"),), PATIENCE)
    assert (server.models, server.settings, server.why) == (
        (),
        "",
        "The server is running but has no model. Load one there.",
    )


async def test_other_servers_are_ignored_without_long_waits():
    with serving({"/v1/models": "<h1>Hello</h1>"}, "text/html") as page, socket.create_server(("127.0.0.1", 0)) as mute:
        silent = f"http://127.0.0.1:{mute.getsockname()[1]}"
        places = (
            tuple(ModelServer(name, page, "/v1/models") for name in "ab")
            + (ModelServer("c", silent, "/v1/models"),) * 8
        )
        began = time.monotonic()
        assert await discover_models({}, (), (*places, ModelServer("d", "http://127.0.0.1:1", "/v1/models"))) == ()
        assert time.monotonic() - began < 20


async def test_keys_of_the_environment_are_discovered_by_variable_and_never_printed():
    keys = {"ANTHROPIC_API_KEY": "sk-ant-1", "GOOGLE_API_KEY": "g-1", "OPENROUTER_API_KEY": "or-1", "OTHER_KEY": "x"}
    used = ProviderSettings(name="g", kind="google", base_url="https://g", api_key="g-1", models=("m",))
    keys_found = await discover_models(keys, (used,), ())
    assert [(key.kind, key.name, key.where, key.configured) for key in keys_found] == [
        ("key", "anthropic", "ANTHROPIC_API_KEY", False),
        ("key", "google", "GOOGLE_API_KEY", True),
        ("key", "openrouter", "OPENROUTER_API_KEY", False),
    ]
    assert 'kind = "anthropic"' in keys_found[0].settings
    assert 'api_key_env = "ANTHROPIC_API_KEY"' in keys_found[0].settings
    assert "sk-ant-1" not in repr(keys_found)


async def test_coding_agents_on_path_are_discovered_with_a_definition_or_the_missing_bridge(tmp_path: Path):
    for name in ("opencode", "claude"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    opencode, claude = await discover_models({"PATH": str(tmp_path)}, (), ())
    assert (opencode.kind, opencode.name, opencode.where) == ("agent", "opencode", str(tmp_path / "opencode"))
    assert "command: [opencode, acp]" in opencode.settings
    assert (claude.name, claude.settings) == ("claude", "")
    assert claude.why == "Claude Code needs the bridge claude-agent-acp, which is not on PATH. Install it from npm."


@asynccontextmanager
async def catalog(*providers: ProviderSettings, fallback: tuple[str, ...] = ()) -> AsyncIterator[ModelCatalog]:
    """Provide a catalogue with these providers until the end of the block."""
    models = ConfiguredModels(ModelSettings(providers=providers, fallback=fallback))
    try:
        yield ModelCatalog(models, {}, ())
    finally:
        await models.close()


CLAUDE = ProviderSettings(name="claude", kind="anthropic", base_url="https://x", models=("c",), missing="No key.")
LOCAL = ProviderSettings(name="local", base_url="http://127.0.0.1:1/v1", models=("m",), window=8000)


async def test_configured_models_are_listed_with_order_abilities_and_problems():
    async with catalog(CLAUDE, LOCAL, fallback=("claude", "local")) as models:
        listed = await models.list_models()
    assert listed.configured == (
        ConfiguredModel(
            name="local/m",
            provider="local",
            model="m",
            kind="openai-compatible",
            label="local · m",
            usable=True,
            images=False,
            window=8000,
            default=True,
            address="http://127.0.0.1:1/v1",
        ),
        ConfiguredModel(
            name="claude/c",
            provider="claude",
            model="c",
            kind="anthropic",
            label="claude · c",
            usable=False,
            images=True,
            why="No key.",
            address="https://x",
        ),
    )


async def test_a_model_with_a_missing_secret_is_listed_as_unusable(tmp_path: Path):
    """SAFE-09: the reason names the secret."""
    keyed = msgspec.structs.replace(LOCAL, api_key="secret://ghosts")
    environment = {"CALLBOARD_HOME": str(tmp_path)}
    models = ConfiguredModels(ModelSettings(providers=(keyed,)), reveal_on_demand(environment))
    (model,) = (await ModelCatalog(models, environment, ()).list_models()).configured
    assert (model.usable, "ghosts" in model.why) == (False, True)


async def test_without_configured_models_the_offline_search_is_listed():
    async with catalog() as models:
        (model,) = (await models.list_models()).configured
        tested = await models.test_model("")
    assert (model.kind, model.usable, model.why) == (
        "offline",
        True,
        "No model is configured: this is the offline search.",
    )
    assert (tested.ok, tested.problem and tested.problem.code) == (False, "model_unconfigured")


async def test_the_test_of_a_model_reports_times_and_tokens():
    with aimock() as server:
        provider = ProviderSettings(name="mock", base_url=server.base_url, api_key=KEY, models=("m",))
        async with catalog(provider) as models:
            with pytest.raises(Refusal) as raised:
                await models.test_model("ghost")
            assert raised.value.code == "unknown_model"
            for name in ("", "mock", "m", "mock/m", "mock/other"):
                tested = await models.test_model(name)
                assert (tested.ok, tested.text) == (True, "ready"), tested
                assert tested.input_tokens is not None
                assert 0 <= tested.first_ms <= tested.duration_ms


async def test_the_times_of_a_test_exclude_loading():
    resolved: list[float] = []

    def slowly(key: str) -> str:
        # A slow keyring, like one that waits to be unlocked.
        threading.Event().wait(0.2)
        resolved.append(time.monotonic())
        return key

    with aimock() as server:
        provider = ProviderSettings(name="mock", base_url=server.base_url, api_key=KEY, models=("m",))
        models = ConfiguredModels(ModelSettings(providers=(provider,)), slowly)
        tested = await ModelCatalog(models, {}, ()).test_model("")
        await models.close()
    assert tested.ok
    assert 0 < tested.duration_ms <= (time.monotonic() - resolved[0]) * 1000 + 1


@pytest.mark.parametrize(
    ("provider", "code", "hint"),
    [
        (LOCAL, "model_unavailable", "Check that the provider can be reached, then send the turn again."),
        (CLAUDE, "model_auth", "Check the key of this provider."),
    ],
)
async def test_the_test_of_an_unavailable_model_reports_what_to_do(provider: ProviderSettings, code: str, hint: str):
    # The catalogue has its own time limit; the first request also loads libraries.
    async with catalog(provider) as models:
        tested = await models.test_model(provider.name)
    assert tested.problem is not None
    assert (tested.ok, tested.problem.code, tested.problem.hint) == (False, code, hint)
