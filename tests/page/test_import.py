"""Import of past sessions of other products on the first page."""

from __future__ import annotations

import os

import msgspec
import pytest
from playwright.sync_api import Browser, expect

from tests.adapters.imports import transcripts
from tests.app.rigs.product import Product

from .page_driver import build_link, open_page

pytestmark = pytest.mark.browser

LONG_AGO = 1_700_000_000


@pytest.fixture
def past_sessions(product: Product) -> Product:
    """Provide a folder with a session of each product and an unreadable transcript."""
    claude, codex = product.place / "claude", product.place / "codex"
    product.variables |= {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(codex)}
    by_claude = transcripts.claude_code(claude, product.folder)
    by_codex = transcripts.codex(codex, product.folder)
    by_codex.write_text(by_codex.read_text().replace("Fix the greeting", "Greet in Chinese"))
    for number, file in enumerate((by_claude, by_codex)):
        os.utime(file, (LONG_AGO + number * 86_400, LONG_AGO + number * 86_400))
    (by_claude.parent / "broken.jsonl").write_text("no JSON at all")
    return product


def test_past_sessions_are_imported_by_keyboard_opened_and_still_there_after_a_restart(
    past_sessions: Product, browser: Browser
) -> None:
    """UI-29: an imported session reads like any other. Nothing is copied before the person starts
    the import.
    """
    with (
        past_sessions.up() as (_, ready),
        open_page(browser, ready["link"], color_scheme="dark", timezone_id="UTC") as tab,
    ):
        others = tab.page.get_by_role("region", name="Claude Code and Codex")
        rows = others.get_by_role("listitem")
        expect(rows).to_have_text(
            ["Greet in ChineseCodexNov 15, 2023Import", "Fix the greetingClaude CodeNov 14, 2023Import"]
        )
        expect(others.get_by_role("button", name="1 unreadable transcript")).to_be_visible()
        expect(tab.page.get_by_text("No sessions yet")).to_be_visible()
        assert tab.list_violations() == []

        others.get_by_role("button", name="Import all 2").focus()
        tab.page.keyboard.press("Enter")
        expect(rows.get_by_role("status")).to_have_text(["2 new turns", "3 new turns"])

        others.get_by_role("button", name="Open Fix the greeting").focus()
        tab.page.keyboard.press("Enter")
        expect(tab.conversation).to_contain_text("It says hello now.")
        closed = "Imported from Claude Code, read-only. Start a new session to continue."
        expect(tab.composer).to_have_attribute("placeholder", closed)
        tab.button("New session here").click()
        expect(tab.composer).to_be_enabled()
        expect(tab.composer).to_have_value("")
        assert tab.troubles == []
    with past_sessions.up() as (_, ready), open_page(browser, ready["link"], timezone_id="UTC") as tab:
        rows = tab.page.get_by_role("region", name="Claude Code and Codex").get_by_role("listitem")
        expect(rows).to_have_text(
            ["Greet in ChineseCodexNov 15, 2023ImportedOpen", "Fix the greetingClaude CodeNov 14, 2023ImportedOpen"]
        )


def test_properties_that_a_past_session_did_not_record_read_as_unknown(
    past_sessions: Product, browser: Browser
) -> None:
    """UI-26: the page claims no mode, permission or sandbox for the work of another product."""
    # The transcript may still grow, so its newest turn, which called no tool, is imported later.
    os.utime(next((past_sessions.place / "codex").rglob("rollout-*.jsonl")))
    with past_sessions.up() as (_, ready):
        with past_sessions.started("import", "--yes", "--json") as importing:
            session = msgspec.json.decode(importing.rest()[0])["sessionId"]
        with open_page(browser, build_link(ready, f"/s/{session}")) as tab:
            tab.button("Show details").click()
            turn = tab.page.get_by_role("tabpanel", name="Turn")
            expect(turn).to_contain_text("ModeUnknown")
            expect(turn).to_contain_text("Permission modeUnknown")
            tab.page.get_by_role("tab", name="Permissions").click()
            checks = tab.page.get_by_role("tabpanel", name="Permissions")
            expect(checks).to_contain_text("SandboxUnknown")
            expect(checks).not_to_contain_text("Not run")


def test_a_missing_past_session_is_reported_in_its_row(past_sessions: Product, browser: Browser) -> None:
    """UI-26: the row shows the reason of the failed import."""
    with past_sessions.up() as (_, ready), open_page(browser, ready["link"], timezone_id="UTC") as tab:
        others = tab.page.get_by_role("region", name="Claude Code and Codex")
        button = others.get_by_role("button", name="Import Greet in Chinese from Codex")
        expect(button).to_be_visible()
        next((past_sessions.place / "codex").rglob("rollout-*.jsonl")).unlink()
        button.click()

        expect(
            others.get_by_role("listitem").filter(has_text="Greet in Chinese").get_by_role("status")
        ).to_contain_text("has no past session")
