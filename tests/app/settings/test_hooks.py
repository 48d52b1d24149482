"""Hooks of the user's and a folder's settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.app.models.keys import learn_keys
from callboard.app.settings.file_editor import MASK
from callboard.app.settings.loader import load_settings
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.errors import Refusal
from callboard.secrets.redaction import Redaction
from tests.app.rigs.product import Product, says, uses

WRITES = {"calls": [uses("Write", file_path="made.txt", content="x\n"), says("Done.")]}
RAN = "import os\nopen({mark!r}, 'a').write(os.getcwd() + '\\n')\n"


def hook_entry(name: str, *words: str) -> str:
    return f'[[hooks]]\nname = "{name}"\ntools = ["Write"]\ncommand = {json.dumps([sys.executable, *words])}\n'


def test_the_users_hooks_come_last_and_see_the_rewritten_call(product: Product) -> None:
    mark = product.place / "asked"
    script = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"
    (product.folder / ".callboard").mkdir()
    (product.folder / ".callboard" / "settings.toml").write_text(
        hook_entry("theirs", "-c", script, str(mark), "theirs ")
    )
    product.home.mkdir()
    mine = hook_entry("mine", "-c", script, str(mark), "mine ")
    (product.home / "settings.toml").write_text(f'permission_mode = "edits"\n{mine}')
    assert product.run("trust", "--yes").code == 0
    assert product.plays(WRITES).run("run", "Go").code == 0
    assert mark.read_text() == "theirs mine "


def test_a_users_hook_starts_in_the_home_and_a_trusted_folders_hook_in_the_folder(product: Product) -> None:
    """SAFE-08: a folder cannot change what the user's hook loads, and its own hook needs trust."""
    marks = {name: product.place / name for name in ("mine", "theirs", "planted")}
    person = product.place / "person"
    person.mkdir()
    (person / "check.py").write_text(RAN.format(mark=str(marks["mine"])))
    (product.folder / "check.py").write_text(RAN.format(mark=str(marks["planted"])))
    (product.folder / ".callboard" / "hooks").mkdir(parents=True)
    (product.folder / ".callboard" / "hooks" / "look.py").write_text(RAN.format(mark=str(marks["theirs"])))
    (product.folder / ".callboard" / "settings.toml").write_text(hook_entry("theirs", ".callboard/hooks/look.py"))
    product.home.mkdir()
    (product.home / "settings.toml").write_text(f'permission_mode = "edits"\n{hook_entry("mine", "-m", "check")}')
    product.variables["HOME"] = str(person)
    assert product.plays(WRITES).run("run", "Go").code == 0
    assert (marks["mine"].read_text(), marks["theirs"].exists()) == (f"{person}\n", False)
    trusted = product.run("trust", "--yes")
    assert f"the hook theirs is asked about Write: starts {sys.executable} .callboard/hooks/look.py" in trusted.out
    assert ".callboard/hooks/look.py" in trusted.out
    assert product.run("run", "Go").code == 0
    assert (marks["mine"].read_text(), marks["theirs"].read_text()) == (f"{person}\n" * 2, f"{product.folder}\n")
    assert not marks["planted"].exists()


WRONG = [
    ('name = "a"\ncommand = []', "hooks.0.command"),
    ('name = "a"\ncommand = ["x"]\ntimeout = 61', "hooks.0.timeout"),
    ('name = "a"\ncommand = ["x"]\ntools = []', "hooks.0.tools"),
    ('name = "a"\ncommand = ["x"]\ntools = ["Bash", "Bash(ls"]', "hooks.0.tools.1"),
    ('name = "a"\ncommand = ["x"]\n[[hooks]]\nname = "a"\ncommand = ["y"]', "hooks.1.name"),
]


@pytest.mark.parametrize(("text", "field"), WRONG)
def test_the_error_of_a_hook_is_named(tmp_path: Path, text: str, field: str) -> None:
    (tmp_path / "settings.toml").write_text(f"[[hooks]]\n{text}\n")
    with pytest.raises(Refusal) as refused:
        load_settings(StateFolder(tmp_path), {})
    assert (refused.value.code, refused.value.problem.field) == ("bad_settings", field)


def test_the_environment_of_a_hook_is_masked_in_settings_and_redacted(tmp_path: Path) -> None:
    """SAFE-03"""
    state_folder = StateFolder(tmp_path / "home")
    state_folder.create()
    text = (
        '[[hooks]]\nname = "lint"\ncommand = ["lint"]\nenv = { LINT_TOKEN = "t0ken-Zx9wVu8tSr7", KEY = "secret://k" }\n'
    )
    state_folder.settings.write_text(text)
    book = SettingsFiles(state_folder, {}, FolderDefinitions())
    read = book.read("user", "", "")
    assert read.values["hooks"][0]["env"] == {"LINT_TOKEN": MASK, "KEY": "secret://k"}
    changed = [{**read.values["hooks"][0], "tools": ["Bash"]}]
    book.write("user", "", {"hooks": changed}, read.digest)
    assert "t0ken-Zx9wVu8tSr7" in state_folder.settings.read_text()
    secrets = Redaction()
    learn_keys(secrets, book.read_user(), {})
    assert "t0ken-Zx9wVu8tSr7" not in secrets.redact("t0ken-Zx9wVu8tSr7")
    # The secret of a hook is passed to no other program, such as a tool of an agent.
    with pytest.raises(Refusal):
        secrets.reveal("secret://hook-lint-LINT_TOKEN")
    assert secrets.reveal_key("secret://hook-lint-LINT_TOKEN") == "t0ken-Zx9wVu8tSr7"


def test_doctor_names_a_hook_that_would_deny_all_it_is_asked_about(product: Product) -> None:
    product.home.mkdir()
    (product.folder / "check.py").write_text("")
    text = f"{hook_entry('fine', '-c', 'pass')}{hook_entry('open', str(product.folder / 'check.py'))}"
    gone = '[[hooks]]\nname = "gone"\ncommand = ["no-such-program"]\n'
    (product.home / "settings.toml").write_text(f"{text}{gone}")
    findings = {finding["name"]: finding for finding in product.run("doctor", "--json").json}
    assert (findings["hook fine"]["state"], findings["hook fine"]["message"]) == ("ok", f"starts {sys.executable}")
    check = f"{product.folder}/check.py"
    assert findings["hook open"]["message"] == f"agents of {product.folder} can change its program {check}"
    assert findings["hook gone"]["message"] == "no-such-program is not installed"
    assert findings["hook gone"]["effect"] == "All calls that match it are denied."


def test_doctor_names_a_hook_for_a_tool_that_nobody_has(product: Product) -> None:
    """A misspelt tool name makes a hook without effect."""
    product.home.mkdir()
    fine = hook_entry("fine", "-c", "pass").replace('["Write"]', '["*", "mcp__git__*", "Edit(src/**)"]')
    slip = hook_entry("slip", "-c", "pass").replace('["Write"]', '["Bsah", "Bsah(rm *)", "Write"]')
    (product.home / "settings.toml").write_text(f"{fine}{slip}")
    findings = {finding["name"]: finding for finding in product.run("doctor", "--json").json}
    assert findings["hook fine"]["state"] == "ok"
    assert (findings["hook slip"]["state"], findings["hook slip"]["message"]) == (
        "warn",
        f"starts {sys.executable}, and names Bsah, which is not a tool of Callboard",
    )


def test_a_hook_in_a_folder_of_other_agents_does_not_run(product: Product) -> None:
    """SAFE-08: an agent of that folder could change the hook, which runs outside the sandbox.

    A hook stops running once its folder is opened, also through a link. Doctor explains what to do.
    """
    other, mark = product.place / "other", product.place / "ran"
    (other / "hooks").mkdir(parents=True)
    (other / "hooks" / "check.py").write_text(RAN.format(mark=str(mark)))
    (product.place / "mine").symlink_to(other / "hooks")
    product.home.mkdir()
    hook = hook_entry("mine", str(product.place / "mine" / "check.py"))
    (product.home / "settings.toml").write_text(f'permission_mode = "edits"\n{hook}')
    assert product.plays(WRITES).run("run", "Go").code == 0
    assert mark.read_text().count("\n") == 1
    product.run("run", "-C", str(other), "Look around")
    record = mark.read_text()
    product.run("run", "Go")
    assert mark.read_text() == record
    where = f"agents of {other} can change its program {other}/hooks/check.py"
    state = {finding["name"]: finding for finding in product.run("doctor", "--json").json}["hook mine"]
    assert (state["state"], state["message"]) == ("bad", where)
    assert state["effect"] == (
        f"All calls that match it are denied. Move it to {other}/.callboard/ or outside of every open folder."
    )
    assert state["fix"] == f"$EDITOR {product.home}/settings.toml"
    (other / ".callboard").mkdir()
    (other / "hooks" / "check.py").rename(other / ".callboard" / "check.py")
    hook = hook_entry("mine", str(other / ".callboard" / "check.py"))
    (product.home / "settings.toml").write_text(f'permission_mode = "edits"\n{hook}')
    assert product.run("run", "Go").code == 0
    assert mark.read_text() == f"{record}{Path.home()}\n"
