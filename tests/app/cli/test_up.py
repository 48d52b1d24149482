from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callboard import __version__
from callboard.log.sqlite.store import open_store
from tests.app.rigs.product import SAMPLE, Product, Running, says

API = "/api/v1"


def endpoint(product: Product) -> dict[str, Any]:
    return json.loads((product.home / "endpoint.json").read_text())


def meta(ready: dict[str, Any]) -> dict[str, Any]:
    """Return the server's description of itself."""
    headers = {"Authorization": f"Bearer {ready['token']}"}
    return httpx2.get(f"{ready['url']}{API}/meta", headers=headers, trust_env=False).json()


def test_up_serves_the_folder_and_stops_on_a_signal(product: Product):
    with product.up() as (running, ready):
        written = endpoint(product)
        about = meta(written)
        assert ready["folder"] == str(product.folder)
        assert re.fullmatch(rf"{ready['url']}/#open=[\w-]{{32}}/w/{ready['workspaceId']}", ready["link"])
        assert written["token"] not in json.dumps(ready)
        assert (ready["running"], ready["pid"], ready["model"]) == (False, running.process.pid, "search, no model")
        assert (about["version"], about["epoch"]) == (__version__, ready["epoch"])
        assert [workspace["path"] for workspace in about["workspaces"]] == [str(product.folder)]
        running.signal(signal.SIGINT)
        rest = [json.loads(line) for line in running.rest()]
        assert rest == [
            {"event": "stopping", "signal": "SIGINT", "working": 0},
            {"event": "stopped", "sessions": 0, "store": str(product.home / "store")},
        ]
        assert running.wait() == 0
    assert not (product.home / "endpoint.json").exists()


def test_a_second_up_opens_its_folder_in_the_running_process(product: Product, tmp_path: Path):
    """CTL-17"""
    other = tmp_path / "other"
    other.mkdir()
    with product.up() as (_, ready):
        done = product.run("up", "--json", "--folder", str(other))
        joined = done.json[-1]
        assert done.code == 0
        assert (joined["running"], joined["folder"]) == (True, str(other))
        assert [joined[name] for name in ("pid", "url", "epoch")] == [ready[name] for name in ("pid", "url", "epoch")]
        assert [workspace["path"] for workspace in meta(endpoint(product))["workspaces"]] == [
            str(product.folder),
            str(other),
        ]


def test_only_the_sample_folder_is_marked_as_the_sample(product: Product):
    with product.up():
        assert product.run("up", "--json", "--folder", str(SAMPLE)).code == 0
        samples = {workspace["path"]: workspace["sample"] for workspace in meta(endpoint(product))["workspaces"]}
        assert samples == {str(product.folder): False, str(SAMPLE): True}


@pytest.mark.parametrize("command", [["up", "--no-browser"], ["run", "Where is the gauge read?"]])
def test_models_unknown_to_the_running_process_are_reported_as_unused(product: Product, command: list[str]):
    with product.up() as (_, ready):
        assert "Not used" not in product.run(*command).err + product.run(*command).out
        product.variables |= {"CALLBOARD_BASE_URL": "http://localhost:9/v1", "CALLBOARD_MODEL": "qwen3"}
        done = product.run(*command)
    assert done.code == 0
    output = done.out + done.err
    assert f"Not used: localhost:9, set in this terminal or in settings.toml. Process {ready['pid']}" in output
    assert "continues with search, no model." in output
    assert "stop that process and start again, or set CALLBOARD_HOME" in output


def test_the_same_models_with_another_key_are_not_used_either(product: Product):
    variables = {"CALLBOARD_BASE_URL": "http://localhost:9/v1", "CALLBOARD_MODEL": "qwen3"}
    product.variables |= {**variables, "CALLBOARD_API_KEY": "the first key"}
    with product.up():
        assert product.run("up", "--json").json[-1]["unusedModels"] == []
        product.variables["CALLBOARD_API_KEY"] = "another key"
        assert product.run("up", "--json").json[-1]["unusedModels"] == ["localhost:9"]
        endpoint_file = (product.home / "endpoint.json").read_text()
    assert "first" not in endpoint_file


@pytest.mark.parametrize(
    "command",
    [["up", "--no-browser"], ["run", "Hi"], ["rules"], ["trust", "--json"], ["tools"]],
    ids=lambda case: case[0],
)
def test_invalid_settings_do_not_block_access_to_the_running_process(product: Product, command: list[str]):
    """SAFE-05: the running process has its own settings. Without one, nothing is started or created."""
    with product.plays({"calls": [says("Hello.")]}).up():
        (product.home / "settings.toml").write_text("prot = 1\n")
        done = product.run(*command)
        assert done.code == 0
        is_reported = f"{product.home / 'settings.toml'}, line 1, at `prot`: this key is unknown" in done.err
        assert is_reported is (command[0] in ("up", "run"))
        assert ("continues with its last valid settings" in done.err) is is_reported
    refused = product.run(*command)
    assert (refused.code, "bad_settings" in refused.err, refused.out) == (2, True, "")


def test_the_endpoint_file_is_private_to_its_owner(product: Product):
    """SAFE-04"""
    with product.up():
        modes = {path.name: path.stat().st_mode & 0o777 for path in product.home.iterdir() if path.is_file()}
        assert modes == {"endpoint.json": 0o600, "callboard.log": 0o600}
        assert product.home.stat().st_mode & 0o777 == 0o700


def test_without_the_token_the_server_reveals_nothing(product: Product):
    """SAFE-04"""
    with product.up() as (_, ready):
        assert httpx2.get(f"{ready['url']}{API}/meta", trust_env=False).status_code == 401


def test_the_start_loads_no_model_library():
    loaded = "import sys, callboard.app.cli.main, callboard.app.wiring; print('pydantic_ai' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout
    assert printed == "False\n"


def test_a_busy_port_moves_on_to_the_next(product: Product):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with product.up("--port", str(port)) as (_, ready):
            assert port < int(ready["url"].rpartition(":")[2]) <= port + 20


def test_each_start_has_a_new_token(product: Product):
    """X1: a token of a former start or a former version is invalid."""
    product.home.mkdir()
    (product.home / "token").write_text("kept-by-an-earlier-version-of-this-product")
    with product.up() as (running, _):
        first = endpoint(product)
        running.signal(signal.SIGTERM)
        assert running.wait() == 0
    with product.up():
        second = endpoint(product)
        assert meta(second)["epoch"] == first["epoch"] + 1
        for token in (first["token"], "kept-by-an-earlier-version-of-this-product"):
            assert meta({**second, "token": token})["code"] == "unauthenticated"
        assert not (product.home / "token").exists()


def test_a_second_up_opens_a_new_page(product: Product):
    """X1: its address is new, and only its owner can read the opener file."""
    with product.up() as (_, ready):
        again = product.run("up", "--json").json[-1]
        assert again["link"] != ready["link"]
        files = {Path(milestone["opener"]) for milestone in (ready, again)}
        assert files == set((product.home / "opening").iterdir())
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_the_endpoint_file_of_a_killed_process_is_ignored(product: Product):
    """CTL-17"""
    with product.up() as (running, first):
        running.signal(signal.SIGKILL)
        running.wait()
        assert endpoint(product)["pid"] == first["pid"]
        with product.up() as (_, second):
            assert (second["running"], second["epoch"]) == (False, first["epoch"] + 1)
            assert endpoint(product)["pid"] == second["pid"]


def test_an_endpoint_of_another_store_is_ignored(product: Product):
    """CTL-17"""
    with product.up() as (running, first):
        stale = endpoint(product)
        running.signal(signal.SIGINT)
        assert running.wait() == 0
        # The pid belongs to a live process, and the port does not answer.
        (product.home / "endpoint.json").write_text(json.dumps({**stale, "pid": os.getpid()}))
        with product.up() as (_, second):
            assert (second["running"], second["epoch"]) == (False, first["epoch"] + 1)


def test_ctl17_a_copy_of_the_state_folder_is_a_separate_store(product: Product, tmp_path: Path):
    """CTL-17: its endpoint file names the process of the original, which answers."""
    product.plays({"match": [{"text": "", "calls": [says("Yes.")]}]})
    assert product.run("run", "One").code == 0
    with product.up():
        copied = Product(tmp_path / "other", dict(product.variables))
        shutil.copytree(product.home, copied.home)
        assert copied.run("run", "Two").code == 0
        assert [card["title"] for card in product.run("sessions", "--json").json] == ["One"]
        assert [card["title"] for card in copied.run("sessions", "--json").json] == ["Two", "One"]


def test_a_store_locked_by_a_silent_process_is_a_clear_error(product: Product):
    """CTL-17"""
    store = open_store(product.home / "store")
    try:
        done = product.run("up", "--json")
    finally:
        asyncio.run(store.close())
    problem = json.loads(done.err)
    assert (done.code, problem["code"]) == (1, "store_locked")
    assert str(os.getpid()) in problem["message"]
    assert "Stop that process" in problem["hint"]


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "field"),
    [
        (["up", "--folder", "/nowhere"], "", "no_folder", "--folder"),
        (["up", "--port", "99999"], "", "bad_settings", "--port"),
        (["up"], "colour = 'red'", "bad_settings", "colour"),
        (["up"], "[[models]]\nname = 'a'\nkind = 'scripted'\nscenario = 'no.yaml'", "bad_scenario", ""),
    ],
)
def test_a_failed_start_is_reported_in_one_line(
    product: Product, arguments: list[str], settings: str, code: str, field: str
):
    """SAFE-05"""
    product.home.mkdir()
    (product.home / "settings.toml").write_text(settings)
    done = product.run(*arguments, "--json")
    problem = json.loads(done.err)
    assert (done.code, problem["code"], problem.get("field", "")) == (2, code, field)


def test_up_prints_the_address_and_the_kept_data(product: Product):
    with product.terminal() as terminal:
        terminal.until(f"Callboard {__version__} is starting on {product.folder}")
        terminal.until("Ready: ")
        terminal.until("#open=")
        terminal.until("works once, for 60 seconds")
        terminal.until("search, no model")
        terminal.until("Ctrl-C stops Callboard")
        terminal.send("\x03")
        terminal.until("Stopping.")
        assert terminal.wait() == 0
        assert f"Stopped. 0 sessions kept in {product.home / 'store'}" in terminal.output


STUCK = """
import asyncio, msgspec, sys
from pathlib import Path
from callboard.app.state_folder import StateFolder
from callboard.app.hosting.serve import handle_stop_signals

async def stuck():
    report = lambda milestone: print(msgspec.json.encode(milestone).decode(), flush=True)
    with handle_stop_signals(StateFolder(Path("/home")), report) as requested:
        print('{"event": "ready"}', flush=True)
        await requested
        print('{"event": "stopping"}', flush=True)
        await asyncio.Event().wait()

asyncio.run(stuck())
"""


def test_a_second_ctrl_c_forces_a_slow_stop():
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running = Running(process)
    try:
        running.milestone("ready")
        running.signal(signal.SIGINT)
        running.milestone("stopping")
        running.signal(signal.SIGINT)
        assert running.milestone("forced") == {"event": "forced", "store": "/home/store"}
        assert running.wait() == 130
    finally:
        running.close()


def test_a_stop_reports_interrupted_sessions_and_keeps_them(product: Product):
    """MAR-16, CTL-06"""
    product.plays({"calls": [[{"text": "so far"}, {"wait_for": "never"}]]})
    with product.up() as (running, _), product.started("run", "Go", "--json") as turn:
        turn.milestone("model.requested")
        running.signal(signal.SIGINT)
        assert running.milestone("stopping")["working"] == 1
        assert running.milestone("stopped")["sessions"] == 1
        assert running.wait() == 0
    types = [fact["type"] for fact in product.run("facts", "last", "--json").json]
    assert types[-1] == "turn.interrupted"
    assert "kept" not in product.plays({"calls": [says("again")]}).run("sessions").err
    assert product.run("sessions", "--json").json[0]["state"] == "interrupted"


def test_a_server_that_crashes_leaves_no_core_file(product: Product):
    """SAFE-03: it would contain values of secrets."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        with product.up() as (running, _):
            assert resource.prlimit(running.process.pid, resource.RLIMIT_CORE)[0] == 0
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)


CONNECTED = """
[[models]]
name = "local"
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
model = "qwen3"

[retry]
patience = 0.0
attempts = 1
"""


@pytest.mark.parametrize("command", [["up", "--no-browser"], ["run", "Where is the gauge read?"]])
def test_a_model_connected_at_run_time_is_not_reported_as_unused(product: Product, command: list[str]):
    """D5: a second terminal compares with the models of the running process."""
    with product.up() as (_, ready):
        (product.home / "settings.toml").write_text(CONNECTED)
        done = product.run(*command)
        endpoint = json.loads((product.home / "endpoint.json").read_text())

    assert (endpoint["model"], len(endpoint["models"]), endpoint["pid"]) == ("local · qwen3", 1, ready["pid"])
    assert "Not used" not in done.out + done.err
