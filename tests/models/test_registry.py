"""Configured models: routes, fallbacks and settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Models, Route, TextContent
from callboard.models.offline import Offline
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from callboard.models.wire import WireModel
from tests.models.requests import make_request, read_answer, read_failure
from tests.models.servers import KEY, Aimock

OPENAI = ProviderSettings(name="openai", base_url="https://api.openai.com/v1", api_key=KEY, models=("gpt-a", "gpt-b"))
OLLAMA = ProviderSettings(name="ollama", base_url="http://localhost:11434/v1", models=("qwen/coder:7b",))


def models(*providers: ProviderSettings, default: str = "") -> ConfiguredModels:
    return ConfiguredModels(ModelSettings(providers=providers, default=default))


def test_without_configuration_the_offline_search_is_chosen_with_the_reason():
    configured: Models = models()

    route = configured.choose_route("gpt-a")

    assert route == Route(
        candidates=(("offline", "search, no model"),),
        chosen=0,
        reason="The agent names 'gpt-a', which is not configured. No model is configured.",
    )
    assert configured.choose_route("").reason == "No model is configured."
    assert isinstance(configured.get_model(*route.candidates[0]), Offline)


def test_a_single_candidate_has_a_reason():
    route = models(OLLAMA).choose_route("")
    assert route == Route(
        candidates=(("ollama", "qwen/coder:7b"),), chosen=0, reason="It is the only configured model."
    )


@pytest.mark.parametrize(
    ("wanted", "default", "chosen", "reason"),
    [
        ("", "", ("openai", "gpt-a"), "It is the first configured model."),
        ("", "gpt-b", ("openai", "gpt-b"), "It is the default."),
        ("", "ollama/qwen/coder:7b", ("ollama", "qwen/coder:7b"), "It is the default."),
        ("gpt-b", "", ("openai", "gpt-b"), "The agent names this model."),
        ("openai/gpt-b", "gpt-a", ("openai", "gpt-b"), "The agent names this model."),
        ("qwen/coder:7b", "", ("ollama", "qwen/coder:7b"), "The agent names this model."),
        ("ollama/llama", "", ("ollama", "llama"), "The agent names this model."),
        (
            "opus",
            "gpt-b",
            ("openai", "gpt-b"),
            "The agent names 'opus', which is not configured. It is the default.",
        ),
    ],
)
def test_a_route_has_a_model_and_a_reason(wanted: str, default: str, chosen: tuple[str, str], reason: str):
    configured = models(OPENAI, OLLAMA, default=default)

    route = configured.choose_route(wanted)

    assert (route.candidates[route.chosen], route.reason) == (chosen, reason)
    assert set(route.candidates) == {("openai", "gpt-a"), ("openai", "gpt-b"), ("ollama", "qwen/coder:7b"), chosen}
    model = configured.get_model(*chosen)
    assert isinstance(model, WireModel)
    assert (model.provider, model.name, model.label) == (*chosen, " · ".join(chosen))
    assert configured.get_model(*chosen) is model


def test_a_model_requested_once_does_not_become_a_candidate():
    configured = models(OLLAMA)
    configured.get_model("ollama", "llama")
    assert configured.choose_route("").candidates == (("ollama", "qwen/coder:7b"),)


def test_a_removed_model_is_refused():
    with pytest.raises(Refusal) as raised:
        models(OPENAI).get_model("ollama", "llama")
    assert raised.value.code == "model_unconfigured"


@pytest.mark.parametrize(
    ("providers", "default", "field"),
    [
        ([{"name": ""}], "", "providers[0].name"),
        ([{}, {"base_url": "http://b/v1"}], "", "providers[1].name"),
        ([{"base_url": "localhost:11434"}], "", "providers[0].base_url"),
        ([{"base_url": ""}], "", "providers[0].base_url"),
        ([{"models": ()}], "", "providers[0].models"),
        ([{"models": ("a", "")}], "", "providers[0].models"),
        ([{}], "b", "default"),
    ],
)
def test_invalid_settings_are_reported_by_field(providers: list[dict[str, Any]], default: str, field: str):
    """SAFE-05"""
    with pytest.raises(Refusal) as raised:
        models(
            *(
                ProviderSettings(**{"name": "p", "base_url": "http://a/v1", "models": ("a",), **changes})
                for changes in providers
            ),
            default=default,
        )
    assert (raised.value.code, raised.value.problem.field) == ("bad_settings", field)


async def test_a_scenario_is_a_model_under_its_providers_name(tmp_path: Path):
    (tmp_path / "demo.yaml").write_text("calls: [[{text: Hi.}]]")
    configured = models(ProviderSettings(name="play", kind="scripted", scenario=str(tmp_path / "demo.yaml")))

    route = configured.choose_route("gpt-a")
    parts, _ = await read_answer(configured.get_model(*route.candidates[route.chosen]), make_request("go"))

    assert route.candidates == (("play", "demo"),)
    assert parts == [TextContent("Hi.")]


@pytest.mark.parametrize("providers", [(), (OPENAI,)])
async def test_a_scenario_for_named_agents_is_not_offered_to_others(
    providers: tuple[ProviderSettings, ...], tmp_path: Path
):
    (tmp_path / "play.yaml").write_text("calls: [[{text: Hello., delay_ms: 1.0e+9}]]")
    configured = ConfiguredModels(
        ModelSettings(providers=providers, scenarios={"play": tmp_path / "play.yaml"}, pace=0)
    )
    before = configured.choose_route("")
    wanted = configured.choose_route("scripted/play")
    assert (wanted.candidates[wanted.chosen], wanted.reason) == (("scripted", "play"), "The agent names this model.")
    parts, _ = await read_answer(configured.get_model("scripted", "play"), make_request("go"))
    assert parts == [TextContent("Hello.")]
    assert configured.get_model("scripted", "play").label == "scripted · play"
    assert configured.choose_route("") == before
    assert ("scripted", "play") not in before.candidates
    assert configured.choose_route("play") != wanted


async def test_warmed_models_answer_and_are_closed(mock: Aimock):
    configured = models(ProviderSettings(name="mock", base_url=mock.base_url, api_key=KEY, models=("m", "n")))

    await configured.warm()
    parts, _ = await read_answer(configured.get_model("mock", "n"), make_request("think first"))
    await configured.close()

    assert parts[-1] == TextContent("It is 42.")


def test_settings_show_no_key():
    """The key goes to the provider and nowhere else."""
    assert KEY not in repr(ModelSettings(providers=(OPENAI,)))


def test_configuring_models_imports_nothing_heavy():
    probe = (
        "import sys; from callboard.models.registry import *; "
        "ConfiguredModels(ModelSettings(providers=(ProviderSettings(name='p', base_url='http://a/v1', models=('m',)),))); "
        "print(sorted({'pydantic_ai', 'openai', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_fallbacks_are_listed_in_order_without_the_chosen_model():
    configured = ConfiguredModels(
        ModelSettings(providers=(OPENAI, OLLAMA), fallback=("ollama", "openai/gpt-b", "openai", "ollama"))
    )
    route = configured.choose_route("gpt-b")
    assert route.candidates == (("openai", "gpt-a"), ("openai", "gpt-b"), ("ollama", "qwen/coder:7b"))
    assert [route.candidates[index] for index in route.fallbacks] == [("ollama", "qwen/coder:7b"), ("openai", "gpt-a")]
    with pytest.raises(Refusal) as raised:
        ConfiguredModels(ModelSettings(providers=(OPENAI,), fallback=("ghost",)))
    assert (raised.value.code, raised.value.problem.field) == ("bad_settings", "fallback[0]")


def test_no_model_replaces_a_missing_demo_scenario(tmp_path: Path):
    (tmp_path / "play.yaml").write_text("calls: [[{text: Hello.}]]")
    configured = ConfiguredModels(
        ModelSettings(providers=(OLLAMA,), fallback=("ollama",), scenarios={"play": tmp_path / "play.yaml"})
    )
    assert configured.choose_route("scripted/play").fallbacks == ()


def test_an_unavailable_model_is_skipped_with_a_reason():
    keyless = msgspec.structs.replace(OPENAI, missing="It has no key.")
    configured = ConfiguredModels(ModelSettings(providers=(keyless, OLLAMA), fallback=("openai", "ollama")))
    route = configured.choose_route("")
    assert route == Route(
        candidates=(("openai", "gpt-a"), ("openai", "gpt-b"), ("ollama", "qwen/coder:7b")),
        chosen=2,
        reason="openai/gpt-a is unavailable: It has no key. It is the next available model.",
        excluded=("It has no key.", "It has no key.", ""),
    )
    alone = ConfiguredModels(ModelSettings(providers=(keyless,)))
    assert alone.choose_route("").candidates[alone.choose_route("").chosen] == ("openai", "gpt-a")


def test_unchanged_models_keep_their_connections_after_a_new_configuration():
    configured = models(OPENAI, OLLAMA)
    unchanged = configured.get_model("ollama", "qwen/coder:7b")
    former = configured.get_model("openai", "gpt-a")

    configured.configure(ModelSettings(providers=(OLLAMA,)))

    assert configured.choose_route("").candidates == (("ollama", "qwen/coder:7b"),)
    assert configured.get_model("ollama", "qwen/coder:7b") is unchanged
    assert configured.get_model("openai", "gpt-a") is former
    with pytest.raises(Refusal):
        configured.configure(ModelSettings(providers=(OLLAMA, OLLAMA)))
    assert configured.settings.providers == (OLLAMA,)
    configured.configure(ModelSettings(providers=(msgspec.structs.replace(OLLAMA, idle_timeout=5.0),)))
    assert configured.get_model("ollama", "qwen/coder:7b") is not unchanged


async def test_a_handle_is_revealed_at_the_first_call(mock: Aimock):
    revealed: list[str] = []

    def reveal(text: str) -> str:
        revealed.append(text)
        return KEY

    provider = ProviderSettings(name="mock", base_url=mock.base_url, api_key="secret://mock", models=("m",))
    configured = ConfiguredModels(ModelSettings(providers=(provider,)), reveal)
    assert revealed == []
    parts, _ = await read_answer(configured.get_model("mock", "m"), make_request("think first"))
    await configured.close()
    assert (parts[-1], revealed) == (TextContent("It is 42."), ["secret://mock"])


async def test_an_unknown_handle_fails_with_its_code():
    def reveal(text: str) -> str:
        raise Refusal("secret_missing", f"Nothing is known of {text}.")

    provider = ProviderSettings(name="p", base_url="http://127.0.0.1:1/v1", api_key="secret://gone", models=("m",))
    configured = ConfiguredModels(ModelSettings(providers=(provider,)), reveal)
    _, failed = await read_failure(configured.get_model("p", "m"), make_request("go"))
    assert (failed.code, failed.retryable, failed.message) == (
        "secret_missing",
        False,
        "Nothing is known of secret://gone.",
    )
