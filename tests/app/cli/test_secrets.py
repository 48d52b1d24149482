"""`callboard secrets`: values are never printed, and the key of a model reaches only its provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.rigs.product import Product
from tests.models.servers import KEY, aimock
from tests.secrets.keyring_fake import Drawer

#: Module path of the test keyring, for other processes.
DRAWER = Path(__file__).resolve().parents[2] / "secrets"
VALUE = "d3pl0y-Zx9wVu8tSr7qPo6n"


@pytest.fixture
def drawer(product: Product) -> Iterator[Path]:
    """Provide a keyring for this process and others."""
    import keyring

    path = product.place / "drawer.json"
    product.variables |= {
        "KEYRING_DRAWER": str(path),
        "PYTHON_KEYRING_BACKEND": "keyring_fake.Drawer",
        "PYTHONPATH": str(DRAWER),
    }
    before = keyring.get_keyring()
    keyring.set_keyring(Drawer())
    yield path
    keyring.set_keyring(before)


def test_a_secret_is_set_listed_and_removed(product: Product, drawer: Path):
    """SAFE-09"""
    assert product.run("secrets").out == "No secrets. `callboard secrets set NAME` stores one.\n"

    done = product.run("secrets", "set", "deploy", stdin=f"{VALUE}\n")

    assert (done.code, done.out) == (0, "Stored in the keyring. Use it as secret://deploy.\n")
    assert json.loads(drawer.read_text()) == {"callboard/deploy": VALUE}
    assert product.run("secrets", "--json").json == [
        {"secrets": [{"name": "deploy", "place": "keyring"}], "problem": ""}
    ]
    assert "secret://deploy" in product.run("secrets", "list").out
    assert product.run("secrets", "remove", "deploy").code == 0
    assert json.loads(drawer.read_text()) == {}
    again = product.run("secrets", "remove", "deploy")
    assert (again.code, again.err.splitlines()) == (
        2,
        [
            "unknown_secret: There is no secret deploy in the keyring. [NAME]",
            "`callboard secrets` lists the secrets.",
        ],
    )
    assert all(VALUE.encode() not in path.read_bytes() for path in product.home.rglob("*") if path.is_file())


def test_a_typed_secret_has_no_echo(product: Product, drawer: Path):
    """SAFE-09"""
    with product.terminal("secrets", "set", "deploy") as terminal:
        terminal.until("secret://deploy: ")
        terminal.send(f"{VALUE}\n")
        output = terminal.until("Use it as")
        assert terminal.wait() == 0
    assert VALUE not in output
    assert json.loads(drawer.read_text()) == {"callboard/deploy": VALUE}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("deploy", "short", "fewer than 6"),
        ("de ploy", VALUE, "Invalid name of a secret"),
        ("deploy", "", "Invalid value of a secret"),
    ],
)
def test_an_invalid_secret_is_refused_without_quoting_it(
    product: Product, drawer: Path, name: str, value: str, message: str
):
    """SAFE-09"""
    done = product.run("secrets", "set", name, stdin=value)

    assert (done.code, message in done.err) == (2, True), done.err
    assert VALUE not in done.err
    assert not drawer.exists()


def test_without_a_keyring_the_error_says_what_to_do(product: Product, drawer: Path):
    """SAFE-09"""
    import keyring
    from keyring.backends.fail import Keyring

    keyring.set_keyring(Keyring())
    product.variables |= {"CALLBOARD_SECRET_DEPLOY": VALUE, "CALLBOARD_SECRET_WORD": "password"}

    done = product.run("secrets", "set", "other", stdin="another-value-22")
    listed = product.run("secrets")

    assert done.code != 0
    assert "secret_store_unavailable" in done.err
    assert "CALLBOARD_SECRET_NAME" in done.err
    assert listed.out == "secret://DEPLOY  environment\n"
    assert "no safe keyring" in listed.err


def test_a_missing_keyring_is_reported_before_a_secret_is_typed(product: Product):
    """SAFE-09"""
    product.variables["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

    with product.terminal("secrets", "set", "deploy") as terminal:
        output = terminal.until("CALLBOARD_SECRET_NAME")
        assert terminal.wait() != 0
    assert "secret_store_unavailable" in output
    assert "secret://deploy: " not in output


def test_a_running_server_uses_a_new_secret_at_once(product: Product, drawer: Path):
    """SAFE-03: it redacts the secret from then on, also in its list of sessions."""
    scenario = {"calls": [[{"text": f"It is {VALUE}."}]]}
    with product.plays(scenario).up():
        assert product.run("secrets", "set", "deploy", stdin=VALUE).code == 0
        done = product.run("run", f"Is it {VALUE}?")
        listed = product.run("sessions", "--json")

    assert "It is secret://deploy." in done.out
    assert VALUE not in done.out + done.err + listed.out
    assert all(VALUE.encode() not in path.read_bytes() for path in product.home.rglob("*") if path.is_file())


def test_the_key_of_a_model_is_a_handle_and_reaches_the_provider(product: Product, drawer: Path):
    """SAFE-09: from the settings through the keyring to a server that requires it."""
    product.run("secrets", "set", "mock", stdin=KEY)
    with aimock() as server:
        (product.home / "settings.toml").write_text(
            '[[models]]\nname = "mock"\nkind = "openai-compatible"\nmodel = "m"\n'
            f'base_url = "{server.base_url}"\napi_key = "secret://mock"\n[retry]\npatience = 0.0\n'
        )
        tested = product.run("models", "--test")
        assert (tested.code, "mock/m: ready" in tested.out) == (0, True), tested
        with product.up():
            keys = product.run("secrets", "--json").json[0]["secrets"]
            answer = product.run("run", f"Say {KEY}")
    assert keys == [{"name": "mock", "place": "keyring", "key": True}]
    assert KEY not in answer.out + answer.err
    assert all(KEY.encode() not in path.read_bytes() for path in product.home.rglob("*") if path.is_file())
