"""Home and system folders open only with an approval."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.adapters.imports import transcripts
from tests.app.rigs.product import Product, says
from tests.prove.driver import store

QUESTION = "Open it? [y/N]"
VERBS = (
    ("up", "--json"),
    ("run", "Say hello"),
    ("job", "start", "Look at this.", "notes.md"),
    ("trust", "--yes"),
    ("rules",),
    ("tools",),
)


@pytest.fixture
def at_home(product: Product) -> Product:
    """Provide the product in a home folder."""
    product.variables["HOME"] = str(product.folder)
    return product.plays({"calls": [says("Here."), says("Again.")]})


def list_opened(product: Product) -> list[dict[str, Any]]:
    """Return the payloads of the facts that record an opened folder."""
    if not (product.home / "store" / store.DATABASE).exists():
        return []
    facts = (fact for stream in store.read(product.home / "store").facts.values() for fact in stream)
    return [fact.payload for fact in facts if fact.type == "workspace.opened"]


@pytest.mark.parametrize("verb", VERBS, ids=[" ".join(arguments[:2]) for arguments in VERBS])
def test_no_verb_opens_a_home_without_an_approval(at_home: Product, verb: tuple[str, ...]):
    """X6: the server refuses, so every verb does."""
    done = at_home.run(*verb)

    assert (done.code, "it is your home" in done.err, "--wide" in done.err) == (2, True, True), done
    assert list_opened(at_home) == []


def test_an_approval_is_a_fact_and_is_asked_for_once(at_home: Product):
    """X6"""
    first = at_home.run("run", "Say hello", "--wide")
    again = at_home.run("run", "Say hello")

    assert (first.code, first.out, again.code) == (0, "Here.\n", 0)
    assert list_opened(at_home) == [{"path": str(at_home.folder), "name": at_home.folder.name, "wide": True}]


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_run_asks_at_a_terminal(at_home: Product, answer: str, code: int):
    """X6"""
    with at_home.terminal("run", "Say hello") as terminal:
        card = terminal.until(QUESTION)
        terminal.send(answer)
        assert terminal.wait() == code

    assert "it is your home: agents could read and change everything of yours in it" in " ".join(card.split())
    assert [fact["wide"] for fact in list_opened(at_home)] == [True] * (code == 0)


def test_up_asks_at_a_terminal_and_opens_after_an_approval(at_home: Product):
    """X6"""
    with at_home.terminal("up", "--no-browser") as terminal:
        terminal.until(QUESTION)
        assert list_opened(at_home) == []
        terminal.send("yes\n")
        terminal.until("#open=")
        terminal.send("\x03")
        assert terminal.wait() == 0

    assert [fact["wide"] for fact in list_opened(at_home)] == [True]


def test_up_opens_nothing_after_a_rejection_and_ctrl_c_ends_the_question(at_home: Product):
    """X6"""
    with at_home.terminal("up", "--no-browser") as terminal:
        terminal.until(QUESTION)
        terminal.send("n\n")
        terminal.until("--wide")
        rejected = terminal.wait()
    with at_home.terminal("up", "--no-browser") as terminal:
        terminal.until(QUESTION)
        terminal.send("\x03")
        stopped = terminal.wait()

    assert (rejected, stopped, list_opened(at_home)) == (2, 0, [])


def test_import_needs_an_approval_for_sessions_of_a_home(at_home: Product):
    """X6"""
    claude = at_home.place / "claude"
    at_home.variables |= {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(at_home.place / "codex")}
    transcripts.claude_code(claude, at_home.folder)

    (refused,) = at_home.run("import", "--yes", "--json").json
    before = list_opened(at_home)
    (imported,) = at_home.run("import", "--yes", "--json", "--wide").json

    assert ("it is your home" in refused["problem"], refused["added"], before) == (True, 0, [])
    assert (imported["problem"], imported["added"] > 0) == ("", True)


def test_over_http_a_broad_folder_needs_the_flag(at_home: Product):
    """X6"""
    at_home.run("run", "Say hello", "--wide")
    with at_home.up("--wide") as (_, ready):
        endpoint = json.loads((at_home.home / "endpoint.json").read_text())
        with httpx2.Client(base_url=endpoint["url"], trust_env=False) as client:
            url, headers = "/api/v1/commands/open_workspace", {"Authorization": f"Bearer {endpoint['token']}"}
            refused = client.post(url, json={"path": "/"}, headers=headers)
            system = client.post(url, json={"path": "/etc"}, headers=headers)
            answer = client.post(url, json={"path": "/etc", "wide": True}, headers=headers)

    assert (refused.status_code, refused.json()["code"], refused.json()["field"]) == (422, "folder_too_broad", "wide")
    assert (system.json()["code"], answer.status_code) == ("folder_too_broad", 200)
    assert ready["folder"] == str(at_home.folder)
