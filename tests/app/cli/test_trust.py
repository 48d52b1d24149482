"""`callboard trust` and `callboard rules`, and warnings of `run` and `up` about untrusted folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.rigs.product import Product, says, uses

ALLOWS = "[[rules]]\nmatcher = 'Edit(**)'\nverdict = 'allow'\n"
WRITES = {"calls": [uses("Write", file_path="made.txt", content="x\n"), says("Done.")]}
LINE = "own files request 1 extra permission, not granted"


def write_request(product: Product, text: str = ALLOWS) -> None:
    (product.folder / ".callboard").mkdir(exist_ok=True)
    (product.folder / ".callboard" / "settings.toml").write_text(text)


def test_a_person_trusts_a_folder_after_seeing_its_requests(product: Product):
    """SAFE-08"""
    write_request(product)
    done = product.plays(WRITES).run("run", "Go")
    assert done.code == 4
    assert LINE in done.err
    assert not (product.folder / "made.txt").exists()
    with product.terminal("trust") as terminal:
        assert "Edit(**) runs without asking" in terminal.until("[y/N]")
        terminal.send("y\n")
        terminal.until("Trusted.")
        assert terminal.wait() == 0
    done = product.run("run", "Go")
    assert (done.code, LINE in done.err) == (0, False)
    assert (product.folder / "made.txt").read_text() == "x\n"


def test_without_a_terminal_nothing_is_trusted(product: Product):
    """SAFE-08"""
    write_request(product)
    done = product.run("trust")
    assert (done.code, "No terminal to ask in." in done.err) == (4, True)
    assert product.run("trust", "--json").json[0]["state"] == "untrusted"


def test_trust_ends_when_the_files_change_or_it_is_revoked(product: Product):
    """SAFE-08"""
    write_request(product)
    assert product.run("trust", "--yes", "--json").json[0]["state"] == "trusted"
    write_request(product, f"{ALLOWS}[shell]\nnetwork = true\n")
    assert product.run("trust", "--json").json[0]["state"] == "changed"
    assert product.run("trust", "--yes", "--json").json[0]["state"] == "trusted"
    assert product.run("trust", "--revoke", "--json").json[0]["state"] == "untrusted"


def test_a_folder_without_requests_needs_no_question(product: Product):
    done = product.run("trust")
    assert (done.code, done.out) == (0, f"{product.folder}: its files request nothing\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules = 3\n", ", line 1, at `rules`: expected `array`, got `int`."),
        ("shell = \n", " is not TOML: Invalid value (at line 1, column 9)."),
    ],
)
def test_an_invalid_settings_file_is_reported_alike_by_every_verb(product: Product, text: str, problem: str):
    """SAFE-08: its requests are unknown, so no verb states them."""
    write_request(product, text)
    message, effect = f".callboard/settings.toml{problem}", "Until it is fixed, every call asks for approval."
    file = product.folder / ".callboard" / "settings.toml"
    for arguments in ((), ("--yes",)):
        done = product.run("trust", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines() == [
            f"bad_settings: {message}",
            f"{effect} Fix {file}, then repeat the command. {done.err.rpartition('command. ')[2].strip()}",
        ]
    assert product.run("trust", "--json").code == 2
    assert f"{message} {effect}" in product.plays({"calls": [says("Done.")]}).run("run", "Go").err
    (finding,) = (finding for finding in product.run("doctor", "--json").json if finding["name"] == "folder")
    assert (finding["state"], finding["message"], finding["fix"]) == ("bad", message, f"$EDITOR {file}")
    assert finding["effect"].startswith(effect)


def test_trust_is_revoked_while_the_settings_file_is_invalid(product: Product):
    """SAFE-08"""
    write_request(product)
    product.run("trust", "--yes")
    write_request(product, "rules = 3\n")
    done = product.run("trust", "--revoke")
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        f"{product.folder}: its settings file is invalid, so its requests are unknown",
    )
    write_request(product)
    assert product.run("trust", "--json").json[0]["state"] == "untrusted"


def test_up_warns_of_an_untrusted_folder(product: Product):
    write_request(product)
    with product.up() as (_, ready):
        assert ready["untrusted"] == 1
        assert LINE in product.run("up", "--no-browser").out


def test_the_default_mode_of_a_turn_comes_from_the_settings(product: Product):
    product.home.mkdir()
    (product.home / "settings.toml").write_text('permission_mode = "edits"\n')
    assert product.plays(WRITES).run("run", "Go").code == 0
    assert (product.folder / "made.txt").exists()
    (product.folder / "made.txt").unlink()
    assert product.run("run", "Go", "--permission", "ask").code == 4
    assert not (product.folder / "made.txt").exists()


def test_rules_are_listed_with_their_source(product: Product):
    write_request(product)
    assert product.run("rules").out == (
        "allow  Edit(**)  this folder's settings  "
        "not applied: the folder is not trusted for the present requests of its files\n"
    )
    (rule,) = product.run("rules", "--json").json
    assert (rule["matcher"], rule["scope"], rule["source"]) == (
        "Edit(**)",
        "folder_settings",
        ".callboard/settings.toml",
    )


def test_rules_of_a_session_elsewhere_are_listed_with_its_folder(product: Product, tmp_path: Path):
    write_request(product)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    product.plays(WRITES).run("run", "Go")
    assert product.run("rules", "--session", "last", "-C", str(elsewhere)).out.startswith(
        f"allow  Edit(**)  {product.folder}'s settings  "
    )
    assert product.run("rules", "--session", "last").out.startswith("allow  Edit(**)  this folder's settings  ")
    tried = tmp_path / "new.toml"
    tried.write_text("[[rules]]\nmatcher = 'Write(*.txt)'\nverdict = 'deny'\n")
    done = product.run("rules", "--dry-run", str(tried), "--session", "last", "-C", str(elsewhere))
    assert "1 past call in 1 session. Nothing was changed." in done.out


def test_rules_of_a_file_are_tried_on_past_calls(product: Product, tmp_path: Path):
    product.plays(WRITES).run("run", "Go", "--approve", "all")
    tried = tmp_path / "new.toml"
    tried.write_text("[[rules]]\nmatcher = 'Write(*.txt)'\nverdict = 'deny'\n")
    done = product.run("rules", "--dry-run", str(tried))
    assert done.code == 0
    assert "1 past call in 1 session. Nothing was changed." in done.out
    assert "1 newly denied" in done.out
    tried.write_text("[[rules]]\nmatcher = 'Write('\nverdict = 'deny'\n")
    done = product.run("rules", "--dry-run", str(tried))
    assert (done.code, "rules.0.matcher" in done.err) == (2, True)
