"""`callboard doctor`: findings about missing or wrong parts of a set-up."""

from __future__ import annotations

import json
import os
import runpy
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring

from callboard.app.doctor import machine_checks
from callboard.app.hosting.process import is_root
from callboard.app.state_folder import StateFolder
from tests.app.rigs.product import Product, says
from tests.secrets.keyring_fake import Drawer

SILENT = """[[models]]
name = "a"
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
model = "m"
"""
SERVER = """[[servers]]
name = "s"
transport = "stdio"
command = ["cat"]
"""
HOOK = """[[hooks]]
name = "h"
command = ["cat"]
env = { A = "secret://own" }
"""
NO_SERVER = """[[servers]]
name = "s"
transport = "stdio"
command = ["no-such-program"]
"""


OWN_SERVER = """[[servers]]
name = "s"
transport = "stdio"
command = ["python3", "{}"]
"""


@contextmanager
def use_keyring(backend: KeyringBackend) -> Iterator[None]:
    """Use this keyring as the system's."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield
    finally:
        keyring.set_keyring(before)


def findings_of(product: Product, *arguments: str) -> dict[str, dict[str, Any]]:
    """Return the findings by name."""
    return {finding["name"]: finding for finding in product.run("doctor", "--json", *arguments).json}


def test_doctor_changes_nothing_on_a_machine_without_callboard(product: Product):
    """SAFE-05"""
    done = product.run("doctor")
    assert done.code == 0
    assert not product.home.exists()
    findings = findings_of(product)
    assert [
        findings[name]["state"] for name in ("state folder", "store", "process", "settings", "folder", "python")
    ] == ["ok"] * 6
    assert findings["models"]["state"] == "warn"
    assert "callboard models" in findings["models"]["fix"]


def test_a_start_as_root_is_reported_with_its_effect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """X4: an ordinary user gets no finding about it."""
    findings = [finding for finding in machine_checks.check_machine(StateFolder(tmp_path)) if finding.name == "user"]
    assert [(finding.state, finding.message) for finding in findings] == (
        [("warn", "Callboard runs as root")] if is_root() else []
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not [finding for finding in machine_checks.check_machine(StateFolder(tmp_path)) if finding.name == "user"]


def test_each_problem_has_an_effect(product: Product):
    for finding in findings_of(product).values():
        assert finding["state"] == "ok" or finding["effect"]


def test_a_written_store_is_ok_and_a_changed_one_is_not(product: Product):
    """SAFE-05"""
    product.plays({"calls": [says("Done.")]}).run("run", "Go")
    assert findings_of(product)["store"]["state"] == "ok"
    with sqlite3.connect(product.home / "store" / "callboard.db") as store:
        store.execute("UPDATE facts SET payload = zeroblob(length(payload)) WHERE position = 3")
    done = product.run("doctor")
    assert (done.code, "differs from the appended one" in done.out) == (1, True)


def test_while_callboard_runs_its_process_and_port_are_named(product: Product):
    with product.up() as (_, ready):
        findings = findings_of(product)
        assert findings["process"]["message"] == f"process {ready['pid']} serves at {ready['url']}"
        assert (findings["store"]["state"], findings["port"]["state"]) == ("ok", "ok")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("prot = 1\n", "settings", "this key is unknown"),
        ("port = \n", "settings", "is not TOML"),
        (SILENT, "a/m", "no response"),
        (NO_SERVER, "tool server s", "not installed"),
    ],
)
def test_a_wrong_setting_is_bad_and_sets_the_exit_code(product: Product, text: str, name: str, message: str):
    """SAFE-05"""
    product.home.mkdir()
    (product.home / "settings.toml").write_text(text)
    findings = findings_of(product)
    finding = next(findings[key] for key in findings if key.endswith(name))
    assert (finding["state"], message in finding["message"]) == ("bad", True)
    assert product.run("doctor").code == 1


def test_a_rule_for_a_tool_that_does_not_exist_is_reported(product: Product):
    """SAFE-05: a misspelt tool makes a rule that denies without an effect."""
    product.home.mkdir()
    matchers = ["Bsh(git push *)", "bash(git push *)", "StartAgent(opencode acp)", "Fetch", "mcp__git__*", "Edit(.env)"]
    rules = "".join(f'[[rules]]\nmatcher = "{matcher}"\nverdict = "deny"\n' for matcher in matchers)
    (product.home / "settings.toml").write_text(rules)
    findings = {name: finding for name, finding in findings_of(product).items() if name.startswith("rule ")}
    assert {name: finding["state"] for name, finding in findings.items()} == {"rule Bsh(git push *)": "warn"}
    listed = [line for line in product.run("rules").out.splitlines() if "not a tool" in line]
    assert (len(listed), "Bsh" in listed[0]) == (1, True)


def test_a_missing_secret_is_reported_with_its_users_and_a_fix(product: Product):
    """SAFE-05"""
    product.home.mkdir()
    (product.home / "settings.toml").write_text(
        f'{SILENT}api_key = "secret://shared"\n{SERVER}env = {{ A = "Bearer secret://shared", B = "secret://own" }}\n{HOOK}'
    )
    with use_keyring(Keyring()):
        findings = findings_of(product)
    effect, fix = "Everything that needs it fails.", "env CALLBOARD_SECRET_{}=VALUE callboard"
    assert {name: finding for name, finding in findings.items() if name.startswith("secret")} == {
        "secret shared": {
            "name": "secret shared",
            "state": "bad",
            "message": "secret://shared is not in the keyring or the environment; model a and tool server s need it",
            "effect": effect,
            "fix": fix.format("shared"),
        },
        "secret own": {
            "name": "secret own",
            "state": "bad",
            "message": "secret://own is not in the keyring or the environment; tool server s and hook h need it",
            "effect": effect,
            "fix": fix.format("own"),
        },
    }
    product.variables |= {"CALLBOARD_SECRET_shared": "a-value-11-Zz", "CALLBOARD_SECRET_own": "a-value-12-Yy"}
    assert findings_of(product)["secrets"]["state"] == "ok"


def test_with_a_keyring_the_fix_stores_the_secret_there(product: Product, tmp_path: Path):
    product.variables["KEYRING_DRAWER"] = str(tmp_path / "drawer.json")
    product.home.mkdir()
    (product.home / "settings.toml").write_text(f'{SILENT}api_key = "secret://shared"\n')
    with use_keyring(Drawer()):
        assert findings_of(product)["secret shared"]["fix"] == "callboard secrets set shared"


def test_a_state_folder_that_is_a_file_is_bad(product: Product):
    product.home.write_text("")
    assert findings_of(product)["state folder"]["state"] == "bad"
    assert product.run("doctor").code == 1


def test_the_finding_of_a_folder_reports_its_trust(product: Product):
    """SAFE-08"""
    (product.folder / ".callboard").mkdir()
    (product.folder / ".callboard" / "settings.toml").write_text("[shell]\nnetwork = true\n")
    assert findings_of(product)["folder"]["fix"] == "callboard trust"
    product.run("trust", "--yes")
    assert findings_of(product)["folder"]["state"] == "ok"
    (product.folder / ".callboard" / "settings.toml").write_text("shell = 1\n")
    assert findings_of(product)["folder"]["state"] == "bad"


def test_a_missing_program_is_reported_with_its_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = {finding.name: finding for finding in machine_checks.check_machine(StateFolder(tmp_path))}
    assert [(findings[name].state, findings[name].fix) for name in ("git", "node")] == [
        ("warn", "install git"),
        ("warn", "install nodejs"),
    ]


def test_doctor_changes_nothing_in_a_store(product: Product):
    product.plays({"calls": [says("Done.")]}).run("run", "Go")
    before = {path: path.read_bytes() for path in (product.home / "store").iterdir() if path.suffix == ".db"}
    findings_of(product)
    assert {path: path.read_bytes() for path in before} == before


def test_a_server_with_a_program_that_agents_can_change_is_reported(product: Product) -> None:
    """SAFE-08: the check applies to a server of the user. A folder's server is covered by its
    trust.
    """
    program, own = product.folder / "serve.py", product.folder / ".callboard" / "settings.toml"
    program.write_text("")
    product.home.mkdir()
    (product.home / "settings.toml").write_text(OWN_SERVER.format(program))
    finding = findings_of(product)["tool server s"]
    warning = f"agents of {product.folder} can change its program {program}"
    assert (finding["state"], finding["message"], finding["fix"]) == (
        "bad",
        warning,
        f"$EDITOR {product.home}/settings.toml",
    )
    (product.home / "settings.toml").unlink()
    own.parent.mkdir()
    own.write_text(OWN_SERVER.format(program))
    assert product.run("trust", "--yes").code == 0
    assert findings_of(product)["tool server s"]["state"] == "ok"


def test_a_page_that_is_older_than_its_sources_is_stale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """SAFE-05: otherwise the browser would show the former page unnoticed."""
    root, builder = tmp_path / "checkout", machine_checks.PAGE.parents[4] / "scripts" / "page.py"
    page = root / "src" / "callboard" / "adapters" / "http" / "page"
    monkeypatch.setattr(machine_checks, "PAGE", page)

    def find_page() -> tuple[str, str]:
        findings = {finding.name: finding for finding in machine_checks.check_machine(StateFolder(tmp_path))}
        return findings["page"].state, findings["page"].fix

    fix = f"make -C {root} page"
    assert find_page() == ("bad", "make page")
    page.mkdir(parents=True)
    (page / "index.html").write_text("")
    assert find_page() == ("ok", "")
    (root / "scripts").mkdir()
    (root / "scripts" / "page.py").write_text(builder.read_text())
    (root / "web").mkdir()
    (root / "web" / "main.ts").write_text("1")
    assert find_page() == ("warn", fix)
    digest = runpy.run_path(str(builder))["source_hash"](root / "web")
    (page / "built-from.json").write_text(json.dumps({"sources": digest}))
    assert find_page() == ("ok", "")
    (root / "web" / "main.ts").write_text("2")
    assert find_page() == ("warn", fix)
