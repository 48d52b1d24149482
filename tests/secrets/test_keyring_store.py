"""Secrets in a keyring or in the environment, and in no file."""

import contextlib
import os
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from callboard.app.state_folder import read_regular
from callboard.contracts.entities.secret import SecretInfo
from callboard.contracts.errors import Refusal
from callboard.secrets.keyring_store import KeyringStore, read_environment, read_keyring
from callboard.secrets.redaction import Redaction
from tests.secrets.keyring_fake import Drawer

VALUE = "k3ep-me-s3cret"


@pytest.fixture
def drawer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    import keyring

    monkeypatch.setenv("KEYRING_DRAWER", str(tmp_path / "drawer.json"))
    before = keyring.get_keyring()
    keyring.set_keyring(Drawer())
    yield tmp_path / "drawer.json"
    keyring.set_keyring(before)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


def test_a_stored_secret_is_available_to_the_next_process_and_is_in_no_file(drawer: Path, state: Path):
    """SAFE-09"""
    secrets = Redaction(store=KeyringStore(state, read_regular))

    assert secrets.store("github", VALUE) == SecretInfo(name="github", place="keyring")

    later = Redaction(read_keyring(KeyringStore(state, read_regular)), store=KeyringStore(state, read_regular))
    assert secrets.redact(VALUE) == later.redact(VALUE) == "secret://github"
    assert later.reveal("secret://github") == VALUE
    assert [path.name for path in state.iterdir()] == ["secrets.json"]
    assert VALUE not in (state / "secrets.json").read_text()
    assert VALUE in drawer.read_text()


def test_a_removed_secret_is_not_revealed_and_stays_redacted(drawer: Path, state: Path):
    """SAFE-09"""
    secrets = Redaction(store=KeyringStore(state, read_regular))
    secrets.store("github", VALUE)

    secrets.remove("github")

    assert secrets.list_stored() == ()
    assert secrets.redact(VALUE) == "secret://github"
    assert VALUE not in drawer.read_text()
    with pytest.raises(Refusal) as refused:
        secrets.reveal("secret://github")
    assert refused.value.code == "secret_missing"
    with pytest.raises(Refusal) as again:
        secrets.remove("github")
    assert again.value.code == "unknown_secret"


def test_a_missing_keyring_is_refused_with_advice(drawer: Path, state: Path):
    """SAFE-09: no file replaces it."""
    import keyring
    from keyring.backends.fail import Keyring

    keyring.set_keyring(Keyring())
    secrets = Redaction(store=KeyringStore(state, read_regular))

    with pytest.raises(Refusal) as refused:
        secrets.store("github", VALUE)

    assert refused.value.code == "secret_store_unavailable"
    assert "CALLBOARD_SECRET_NAME" in refused.value.problem.hint
    assert "CALLBOARD_SECRET_NAME" in secrets.check_keyring()
    assert list(state.iterdir()) == []


def test_a_keyring_that_fails_is_not_quoted(drawer: Path, state: Path, monkeypatch: pytest.MonkeyPatch):
    """SAFE-09: its message may contain the value."""
    monkeypatch.setenv("KEYRING_DRAWER_LOCKED", "1")

    with pytest.raises(Refusal) as refused:
        KeyringStore(state, read_regular).put("github", VALUE)

    assert refused.value.code == "secret_store_unavailable"
    assert "KeyringLocked" in refused.value.problem.message
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("a pipe", "It is not a regular file"),
        ("a socket", "It is not a regular file"),
        ("a link to a device", "It is not a regular file"),
        ("a folder", "Is a directory"),
        ("no text", "JSON is malformed"),
    ],
)
def test_a_list_of_names_that_is_not_a_regular_file_is_refused_at_once(
    drawer: Path, state: Path, kind: str, reason: str
):
    """SAFE-09: no value is stored without its name."""
    path = state / "secrets.json"
    match kind:
        case "a pipe":
            os.mkfifo(path)
        case "a socket":
            with contextlib.chdir(state), socket.socket(socket.AF_UNIX) as opened:
                opened.bind(path.name)
        case "a link to a device":
            path.symlink_to("/dev/zero")
        case "a folder":
            path.mkdir()
        case _:
            path.write_bytes(b"\xff")
    store = KeyringStore(state, read_regular)

    for use in (store.list_stored, lambda: store.put("github", VALUE), lambda: store.remove("github")):
        with pytest.raises(Refusal) as refused:
            use()
        assert refused.value.code == "secret_store_unavailable"
        assert f"{path} cannot be read: {reason}" in refused.value.problem.message
        assert "Move it away" in refused.value.problem.hint
    assert not drawer.exists() or VALUE not in drawer.read_text()


@pytest.mark.parametrize("value", ["abc", "password", "Callboard", "1234567", "aaaaaaaa", "github", "secret://"])
def test_a_value_that_occurs_in_ordinary_text_is_refused(drawer: Path, state: Path, value: str):
    """SAFE-03: its handle would replace words."""
    secrets = Redaction(store=KeyringStore(state, read_regular))

    with pytest.raises(Refusal) as refused:
        secrets.store("github", value)

    assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "value")
    assert value not in refused.value.problem.message or value in "secret"
    assert secrets.redact(f"a {value} b") == f"a {value} b"


def test_variables_can_have_secrets_and_invalid_ones_are_listed():
    """SAFE-03"""
    accepted, rejected = read_environment(
        {"CALLBOARD_SECRET_GITHUB": VALUE, "CALLBOARD_SECRET_SHORT": "abc", "CALLBOARD_SECRET_": VALUE, "PATH": "/bin"}
    )

    secrets = Redaction(accepted)

    assert secrets.list_stored() == (SecretInfo(name="GITHUB", place="environment"),)
    assert rejected == ["CALLBOARD_SECRET_SHORT: it has fewer than 6 characters"]
    assert VALUE not in repr(accepted)
    with pytest.raises(Refusal, match="from the environment"):
        secrets.store("GITHUB", "another-value-1")
