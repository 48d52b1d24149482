"""Failures of a first start: each explains what happened and what to do, without a stack trace."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.app.cli.main import main
from tests.app.rigs.product import Product, says


def create_store(product: Product) -> None:
    """Create a store by a first start."""
    product.plays({"calls": [says("Done.")]}).run("run", "Go")


def make_store_newer(product: Product) -> None:
    create_store(product)
    with sqlite3.connect(product.home / "store" / "callboard.db") as store:
        store.execute("PRAGMA user_version = 99")


def damage_store(product: Product) -> None:
    (product.home / "store").mkdir(parents=True)
    (product.home / "store" / "callboard.db").write_bytes(os.urandom(9000))


def put_folder(name: str) -> Callable[[Product], None]:
    """Put a folder in place of a state file."""
    return lambda product: (product.home / name).mkdir(parents=True)


def put_file(name: str) -> Callable[[Product], None]:
    """Put a file in place of a state folder."""

    def make(product: Product) -> None:
        (product.home / name).parent.mkdir(parents=True, exist_ok=True)
        (product.home / name).touch()

    return make


def write_settings(text: bytes) -> Callable[[Product], None]:
    def make(product: Product) -> None:
        product.home.mkdir()
        (product.home / "settings.toml").write_bytes(text)

    return make


@pytest.mark.parametrize(
    ("spoil", "code", "message", "hint"),
    [
        (put_file(""), "store_unusable", "it is a file, not a folder", "CALLBOARD_HOME"),
        (put_file("store"), "store_unusable", "cannot be used", ""),
        (put_folder("endpoint.json"), "store_unusable", "is a directory", "CALLBOARD_HOME"),
        (put_folder("callboard.log"), "store_unusable", "is a directory", "CALLBOARD_HOME"),
        (put_folder("settings.toml"), "bad_settings", "Is a directory", "readable file"),
        (make_store_newer, "store_unusable", "a newer Callboard created it", "Update Callboard"),
        (damage_store, "store_unusable", "is not a database", "backup"),
        (write_settings(b"port = \n"), "bad_settings", "is not TOML", "move it away"),
        (write_settings(b"prot = 1\n"), "bad_settings", "this key is unknown", ""),
        (write_settings(b"port = 99999\n"), "bad_settings", "expected `int` <= 65535", ""),
        (write_settings(b"port = '\xff'\n"), "bad_settings", "is not UTF-8", ""),
    ],
    ids=lambda case: getattr(case, "__name__", None) if callable(case) else None,
)
def test_a_failed_first_start_says_why(
    product: Product, spoil: Callable[[Product], None], code: str, message: str, hint: str
):
    """SAFE-05"""
    spoil(product)
    done = product.run("up", "--json")
    problem = json.loads(done.err)
    assert done.code != 0
    assert (problem["code"], message in problem["message"], hint in problem.get("hint", "")) == (code, True, True), (
        problem
    )
    assert "Traceback" not in done.err + done.out
    assert not (product.home / "incident.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        (["up", "--folder", "/nowhere"], "no_folder", "--folder"),
        (["up", "--port", "70000"], "bad_settings", "--port"),
        (["run", "Go", "--folder", "/nowhere"], "no_folder", "--folder"),
        (["trust", "/nowhere"], "no_folder", "FOLDER"),
    ],
)
def test_a_wrong_usage_names_the_typed_argument(product: Product, arguments: list[str], code: str, field: str):
    """SAFE-05"""
    done = product.run(*arguments, "--json")
    problem = json.loads(done.err)
    assert (problem["code"], problem["field"]) == (code, field)


def test_an_invalid_option_lists_its_values_and_no_name_of_a_library(product: Product):
    """SAFE-05"""
    done = product.run("run", "Go", "--approve", "yes", "--json")
    message = json.loads(done.err)["message"]
    assert message == "Invalid value for '--approve': 'yes' is not one of 'ask', 'none', 'all-edits', 'all'."


@pytest.mark.parametrize(
    "text", ["garbage", '{"url":"http://127.0.0.1:9","token":"x","pid":1,"epoch":1,"storeId":"x"}']
)
def test_an_endpoint_file_of_an_ended_process_is_ignored(product: Product, text: str):
    product.home.mkdir()
    (product.home / "endpoint.json").write_text(text)
    create_store(product)
    assert product.run("sessions", "--json").json[0]["state"] == "idle"


def test_a_store_locked_by_a_silent_process_is_refused_with_its_process(
    product: Product, monkeypatch: pytest.MonkeyPatch
):
    """CTL-17"""
    monkeypatch.setattr("callboard.app.hosting.announcement.RESPONSE_SECONDS", 0.3)
    monkeypatch.setattr("callboard.app.hosting.host.BEGIN_SECONDS", 0.3)
    with product.up() as (running, ready):
        running.signal(signal.SIGSTOP)
        try:
            done = product.run("up", "--json")
        finally:
            running.signal(signal.SIGCONT)
    problem = json.loads(done.err)
    assert (done.code, problem["code"], f"({ready['pid']})" in problem["message"]) == (1, "store_locked", True)
    assert "CALLBOARD_HOME" in problem["hint"]


def test_a_full_disk_is_reported_for_the_state_folder(product: Product, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("callboard.app.state_folder.write_private", full)
    problem = json.loads(product.run("up", "--json").err)
    assert (problem["code"], "Free space" in problem["hint"]) == ("store_full", True)


def test_without_a_verb_up_runs_and_ctrl_c_reports_the_kept_data(product: Product):
    with product.terminal("--no-browser") as terminal:
        output = terminal.until("Ctrl-C stops Callboard; the log is kept.")
        assert output.index("is starting on") < output.index("Ready:")
        assert "#open=" in output
        terminal.send("\x03")
        assert "kept in" in terminal.until("continues from there.")
        assert terminal.wait() == 0


@pytest.mark.parametrize("verb", [("run", "Go"), ("up", "--no-browser"), ("doctor",), ("tools",)])
def test_a_deleted_working_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]
):
    """D6"""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    code = main([*verb, "--json"] if verb[0] in {"run", "doctor"} else [*verb])

    error = capsys.readouterr().err
    assert code != 0
    assert "no_folder" in error
    assert "Change to another folder" in error
    assert not (tmp_path / "home" / "incident.txt").exists()
