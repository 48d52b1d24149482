"""Tasks of the board, sleeping agents and evidence in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from callboard.app.cli.main import main
from tests.app.rigs.product import Product, says

from .page_driver import PageDriver, open_page

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
LEAD = """---
name: lead
description: Answers.
kind: main
lead: true
tools: ["*"]
policy: [Patch, Finalize]
---
You lead.
"""
MAKER = """---
name: maker
description: Makes things.
kind: main
tools: [Read, Glob]
policy: [Finalize]
---
You make things.
"""
WATCHER = """---
name: watcher
description: Watches the folder.
kind: background
tools: [Glob]
policy: [Finalize]
schedule: {every: 6h}
---
You watch.
"""
SCENARIO: dict[str, Any] = {
    "match": [
        {"agent": "maker", "text": "", "calls": [says("The list is made.")] * 4},
        {"agent": "watcher", "text": "", "calls": [says("Nothing new.")] * 4},
        {"agent": "lead", "text": "", "calls": [says("Here I am.")] * 4},
    ]
}


@pytest.fixture
def team_folder(product: Product) -> Product:
    """Provide a folder with a lead, a maker and a watcher."""
    agents = product.folder / "agents"
    agents.mkdir()
    for name, text in (("lead", LEAD), ("maker", MAKER), ("watcher", WATCHER)):
        (agents / f"{name}.md").write_text(text)
    return product.plays(SCENARIO)


def begin_session(tab: PageDriver) -> None:
    """Open a session with an idle lead."""
    tab.send("Hello")
    expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Here I am.")


def add_agent(tab: PageDriver, name: str) -> Locator:
    """Add an agent of the folder to the session by the palette. Return its card."""
    tab.page.keyboard.press("Control+k")
    tab.page.get_by_role("option", name="Add agent to session").click()
    dialog = tab.page.get_by_role("dialog", name="Add agent")
    dialog.get_by_role("combobox").fill(name)
    dialog.get_by_role("button", name="Add").click()
    card = tab.page.get_by_role("list", name="Agents").get_by_role("listitem").filter(has_text=name)
    expect(card).to_be_visible()
    return card


def open_view(tab: PageDriver, name: str) -> None:
    """Open a view of the team."""
    tab.page.get_by_role("navigation", name="Team views").get_by_role("button", name=name).click()


def test_a_task_is_created_on_the_board_started_and_done(team_folder: Product, browser: Browser) -> None:
    """UI-21: each step is a command, and the card moves when its fact arrives. An attempt leads to
    its run.
    """
    with team_folder.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        begin_session(tab)
        add_agent(tab, "maker")
        open_view(tab, "Board")
        tab.button("New task").click()
        dialog = tab.page.get_by_role("dialog", name="New task")
        dialog.get_by_role("button", name="Create task").click()
        expect(dialog.get_by_role("alert")).to_have_text("Enter a title.")
        dialog.get_by_label("Title").fill("Make the list")
        dialog.get_by_label("Assignee").select_option(label="maker")
        dialog.get_by_role("button", name="Create task").click()
        board = tab.page.get_by_role("region", name="Board")
        card = board.get_by_role("listitem").filter(has_text="Make the list")
        expect(card).to_contain_text("maker")
        tab.button("Actions for Make the list").click()
        tab.page.get_by_role("menuitem", name="Start").click()
        done = board.get_by_role("group", name="Done").get_by_role("listitem").filter(has_text="Make the list")
        expect(done).to_be_visible()
        done.get_by_role("button", name="Make the list", exact=True).click()
        attempts = done.get_by_role("list", name="Attempts")
        expect(attempts).to_contain_text("Done")
        attempts.get_by_role("button", name="Open run of attempt 1").click()
        expect(tab.page.get_by_role("list", name="Run timeline")).to_contain_text("The list is made.")
        assert tab.troubles == []


def test_a_sleeping_agent_is_paused_and_resumed(team_folder: Product, browser: Browser) -> None:
    """UI-22: the page shows the schedule, the next wake and the last run. Pause, resume and end are
    commands.
    """
    with team_folder.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        begin_session(tab)
        card = add_agent(tab, "watcher")
        expect(card).to_contain_text("Scheduled")
        card.get_by_role("button", name="Show details of watcher").click()
        facts = card.get_by_role("region", name="Background agent watcher")
        expect(facts).to_contain_text("every 6h")
        facts.get_by_role("button", name="Pause").click()
        facts.get_by_role("button", name="Resume").click()
        expect(facts.get_by_role("button", name="Pause")).to_be_visible()
        facts.get_by_role("button", name="Wake now").click()
        facts.get_by_role("button", name="Last run of watcher").click()
        expect(tab.page.get_by_role("list", name="Run timeline")).to_contain_text("Nothing new.")
        expect(facts).to_contain_text("Done")
        facts.get_by_role("button", name="End").click()
        tab.page.get_by_role("dialog", name="End watcher?").get_by_role("button", name="End").click()
        expect(facts.get_by_role("button", name="Pause")).to_have_count(0)
        assert tab.troubles == []


def test_exported_evidence_is_downloaded_and_verifies(
    team_folder: Product, browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pack is downloaded on request, and its check prints the link that the page shows."""
    with team_folder.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        begin_session(tab)
        with tab.page.expect_download() as downloading:
            tab.page.keyboard.press("Control+k")
            tab.page.get_by_role("option", name="Export evidence").click()
        path = tmp_path / "kept.zip"
        downloading.value.save_as(path)
        dialog = tab.page.get_by_role("dialog", name="Evidence exported")
        expect(dialog).to_contain_text("up to fact")
        link = dialog.locator(".font-mono").inner_text()
        assert tab.troubles == []
    assert main(["verify", str(path)]) == 0
    assert link in capsys.readouterr().out


def focus_by_tab(tab: PageDriver, name: str) -> None:
    """Press Tab until the element with this name has the focus."""
    for _ in range(120):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate("(e => e.ariaLabel ?? e.textContent.trim())(document.activeElement)") == name:
            return
    pytest.fail(f"the Tab key never came to {name}")


_FOCUSED_TEXT = "document.activeElement.textContent.trim()"


def choose_entry(tab: PageDriver, name: str) -> None:
    """Move down the open menu to this entry, and choose it."""
    expect(tab.page.get_by_role("menuitem", name=name, exact=True)).to_be_visible()
    tab.page.wait_for_function("document.activeElement.closest('[role=menu]') !== null")
    tab.page.keyboard.press("Home")
    for _ in range(tab.page.get_by_role("menuitem").count()):
        focused = tab.page.evaluate(_FOCUSED_TEXT)
        if focused == name:
            tab.page.keyboard.press("Enter")
            return
        tab.page.keyboard.press("ArrowDown")
        # The menu moves its focus after the event.
        tab.page.wait_for_function(f"former => {_FOCUSED_TEXT} !== former", arg=focused)
    pytest.fail(f"the arrow key never came to {name}")


def test_a_team_can_be_operated_by_keyboard_alone(team_folder: Product, browser: Browser) -> None:
    """UI-33: a person adds, pauses and ends an agent, and creates and starts a task, without a
    pointer. The focus stays.
    """
    with team_folder.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        keys = tab.page.keyboard
        begin_session(tab)
        for agent in ("watcher", "maker"):
            keys.press("Control+k")
            expect(tab.page.get_by_role("dialog", name="Command palette")).to_be_visible()
            keys.type("Add agent to session")
            keys.press("Enter")
            expect(tab.page.get_by_role("dialog", name="Add agent")).to_be_visible()
            keys.type(agent)
            keys.press("Enter")
            expect(tab.page.get_by_role("dialog")).to_have_count(0)
        card = tab.page.get_by_role("list", name="Agents").get_by_role("listitem").filter(has_text="watcher")
        expect(card).to_be_visible()
        focus_by_tab(tab, "Show details of watcher")
        keys.press("Enter")
        focus_by_tab(tab, "Pause")
        keys.press("Enter")
        expect(card.get_by_role("button", name="Resume")).to_be_focused()
        focus_by_tab(tab, "Actions for watcher")
        keys.press("Enter")
        choose_entry(tab, "End")
        dialog = tab.page.get_by_role("dialog", name="End watcher?")
        expect(dialog).to_be_visible()
        focus_by_tab(tab, "End")
        keys.press("Enter")
        expect(dialog).to_have_count(0)
        expect(card.get_by_role("button", name="Actions for watcher")).to_be_focused()
        focus_by_tab(tab, "Board")
        keys.press("Enter")
        focus_by_tab(tab, "New task")
        keys.press("Enter")
        expect(tab.page.get_by_role("dialog", name="New task").get_by_label("Title")).to_be_focused()
        keys.type("Make the list")
        keys.press("Enter")
        expect(tab.button("New task")).to_be_focused()
        board = tab.page.get_by_role("region", name="Board")
        expect(board.get_by_role("listitem").filter(has_text="Make the list")).to_be_visible()
        focus_by_tab(tab, "Actions for Make the list")
        keys.press("Enter")
        choose_entry(tab, "Assign to maker")
        expect(board.get_by_role("listitem").filter(has_text="Make the list")).to_contain_text("maker")
        expect(tab.button("Actions for Make the list")).to_be_focused()
        keys.press("Enter")
        choose_entry(tab, "Start")
        done = board.get_by_role("group", name="Done").get_by_role("listitem")
        expect(done.filter(has_text="Make the list")).to_be_visible()
        # The focus moved with the card.
        expect(tab.button("Actions for Make the list")).to_be_focused()
        assert tab.troubles == []
