"""`callboard models`, and the same over HTTP."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.app.rigs.product import Product
from tests.models.servers import KEY, aimock

MODEL = '[[models]]\nname = "mock"\nkind = "openai-compatible"\nbase_url = "{url}"\nmodel = "m"\napi_key = "{key}"\n'
ROUTES = (("list_models", ""), ("test_model", "?name=mock"))


def configure(product: Product, url: str, key: str = KEY) -> Product:
    product.home.mkdir(mode=0o700)
    (product.home / "settings.toml").write_text(MODEL.format(url=url, key=key))
    return product


def test_without_a_model_the_list_shows_the_search_and_available_models(product: Product):
    product.variables["ANTHROPIC_API_KEY"] = ""
    done = product.run("models")
    assert done.code == 0
    assert "offline/search, no model" in done.out
    assert "No model is configured: this is the offline search." in done.out


def test_an_unused_key_is_listed_with_its_settings_and_a_used_key_is_not(product: Product):
    product.variables |= {"ANTHROPIC_API_KEY": "sk-ant-1", "MISTRAL_API_KEY": "mi-1"}
    done = product.run("models")
    assert done.code == 0
    assert "anthropic/claude-sonnet-5-5" in done.out
    assert "mistral, key in MISTRAL_API_KEY" in done.out
    assert 'api_key_env = "MISTRAL_API_KEY"' in done.out
    assert str(product.home / "settings.toml") in done.out
    assert 'api_key_env = "ANTHROPIC_API_KEY"' not in done.out
    assert "sk-ant-1" not in done.out + done.err
    assert "mi-1" not in done.out + done.err


def test_the_json_output_is_one_object(product: Product):
    models = json.loads(product.run("models", "--json").out)
    assert [model["kind"] for model in models["configured"]] == ["offline"]


def test_the_exit_code_of_a_test_says_whether_the_model_responded(product: Product):
    with aimock() as server:
        configure(product, server.base_url)
        done = product.run("models", "--test")
        assert (done.code, "mock/m: ready" in done.out) == (0, True), done
        as_json = json.loads(product.run("models", "--test", "mock", "--json").out)
        assert (as_json["ok"], as_json["text"]) == (True, "ready")
        unknown = product.run("models", "--test", "ghost")
        assert (unknown.code, "unknown_model" in unknown.err) == (2, True)
    product.home.joinpath("settings.toml").write_text(MODEL.format(url="http://127.0.0.1:1/v1", key="k"))
    failed = product.run("models", "--test")
    assert failed.code == 1
    assert "cannot be reached at http://127.0.0.1:1/v1" in failed.out


def test_the_page_receives_the_same_models(product: Product):
    with aimock() as server, configure(product, server.base_url).up() as (_, ready):
        token = json.loads((product.home / "endpoint.json").read_text())["token"]

        def ask(query: str) -> dict[str, Any]:
            request = urllib.request.Request(
                f"{ready['url']}/api/v1/queries/{query}", headers={"Authorization": f"Bearer {token}"}
            )
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)

        listed, tested = (ask(name + rest) for name, rest in ROUTES)
    assert [(model["name"], model["default"]) for model in listed["configured"]] == [("mock/m", True)]
    assert (tested["ok"], tested["text"], tested["name"]) == (True, "ready", "mock/m")
