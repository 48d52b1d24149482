"""`callboard doctor`: what is missing or wrong, before it stands in the way."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from callboard.app.doctor import machine
from callboard.app.home import Home
from tests.app.product import Product, says

NOBODY = """[[models]]
name = "a"
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
model = "m"
"""
NO_SERVER = """[[servers]]
name = "s"
transport = "stdio"
command = ["no-such-program"]
"""


def examined(product: Product, *arguments: str) -> dict[str, dict[str, Any]]:
    """The findings by name."""
    return {one["name"]: one for one in product.run("doctor", "--json", *arguments).json}


def test_a_machine_that_never_had_callboard_is_looked_at_and_left_as_it_is(product: Product):
    """SAFE-05"""
    done = product.run("doctor")
    assert done.code == 0
    assert not product.home.exists()
    found = examined(product)
    assert [found[name]["state"] for name in ("state folder", "store", "process", "settings", "folder", "python")] == [
        "ok"
    ] * 6
    assert found["models"]["state"] == "warn"
    assert "callboard models" in found["models"]["mend"]


def test_whatever_is_not_well_says_what_follows_and_what_mends_it(product: Product):
    for one in examined(product).values():
        assert one["state"] == "ok" or one["means"]


def test_a_store_that_was_written_holds_and_one_that_was_changed_does_not(product: Product):
    """SAFE-05"""
    product.plays({"calls": [says("Done.")]}).run("run", "Go")
    assert examined(product)["store"]["state"] == "ok"
    with sqlite3.connect(product.home / "store" / "callboard.db") as store:
        store.execute("UPDATE facts SET payload = zeroblob(length(payload)) WHERE position = 3")
    done = product.run("doctor")
    assert (done.code, "does not hold" in done.out) == (1, True)


def test_while_callboard_runs_its_process_and_port_are_named(product: Product):
    with product.up() as (_, ready):
        found = examined(product)
        assert found["process"]["said"] == f"process {ready['pid']} serves at {ready['url']}"
        assert (found["store"]["state"], found["port"]["state"]) == ("ok", "ok")


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("prot = 1\n", "settings", "this key is unknown"),
        ("port = \n", "settings", "is not TOML"),
        (NOBODY, "a/m", "nothing answers"),
        (NO_SERVER, "tool server s", "not installed"),
    ],
)
def test_what_is_set_wrongly_is_bad_and_the_exit_code_says_so(product: Product, text: str, name: str, said: str):
    """SAFE-05"""
    product.home.mkdir()
    (product.home / "settings.toml").write_text(text)
    found = examined(product)
    one = next(found[key] for key in found if key.endswith(name))
    assert (one["state"], said in one["said"]) == ("bad", True)
    assert product.run("doctor").code == 1


def test_a_state_folder_that_is_a_file_is_bad(product: Product):
    product.home.write_text("")
    assert examined(product)["state folder"]["state"] == "bad"
    assert product.run("doctor").code == 1


def test_the_folder_says_whether_it_is_trusted(product: Product):
    """SAFE-08"""
    (product.folder / ".callboard").mkdir()
    (product.folder / ".callboard" / "settings.toml").write_text("[shell]\nnetwork = true\n")
    assert examined(product)["folder"]["mend"] == "callboard trust"
    product.run("trust", "--yes")
    assert examined(product)["folder"]["state"] == "ok"
    (product.folder / ".callboard" / "settings.toml").write_text("shell = 1\n")
    assert examined(product)["folder"]["state"] == "bad"


def test_a_machine_without_its_programs_says_what_installs_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {one.name: one for one in machine.look(Home(tmp_path))}
    assert [(found[name].state, found[name].mend) for name in ("git", "node")] == [
        ("warn", "install git"),
        ("warn", "install nodejs"),
    ]


def test_looking_changes_nothing_of_a_store(product: Product):
    product.plays({"calls": [says("Done.")]}).run("run", "Go")
    before = {path: path.read_bytes() for path in (product.home / "store").iterdir() if path.suffix == ".db"}
    examined(product)
    assert {path: path.read_bytes() for path in before} == before
