"""Jobs in a browser: start, follow, retry and cancel."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.app.rigs.product import Product, says

from .page_driver import PageDriver, open_page

pytestmark = pytest.mark.browser

LEAD = """---
name: lead
description: Works in the folder.
kind: main
lead: true
tools: ["*"]
---
You work.
"""
READER = """---
name: reader
description: Reads one file and says what is in it.
kind: subagent
role: researcher
tools: [Read]
---
You read one file.
"""
#: The first item is read at once, the second fails until its retry, the third waits for a file.
SCENARIO: dict[str, Any] = {
    "agents": {"lead": [says("Hello.")]},
    "match": [
        {"text": "This is attempt 2", "calls": [says("Bravo is a list.")]},
        {"text": "alpha.md", "calls": [says("Alpha is a note.")]},
        {"text": "bravo.md", "calls": [[{"fail": {"code": "model_refused_request", "message": "Not this one."}}]]},
        {"text": "charlie.md", "calls": [[{"wait_for": "go"}, {"text": "Charlie is a table."}]]},
        {"text": "delta.md", "calls": [[{"wait_for": "never"}, {"text": "Delta is not read."}]]},
    ],
}


@pytest.fixture
def readers(product: Product) -> Product:
    """Provide a folder with a lead and one subagent."""
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    (agents / "reader.md").write_text(READER)
    return product.plays(SCENARIO)


def begin_session(tab: PageDriver) -> None:
    """Open a session in which one agent works alone."""
    tab.send("Hello")
    expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Hello.")
    expect(tab.page.get_by_role("navigation", name="Team views")).to_have_count(0)


def find_item(tab: PageDriver, title: str) -> Locator:
    """Return an item of the visible list."""
    return tab.page.get_by_role("list", name="Items of").get_by_role("listitem").filter(has_text=title)


def test_a_job_runs_item_by_item_and_retries_its_failed_item(readers: Product, browser: Browser) -> None:
    """UI-18, UI-21, CTL-11: one card shows the progress, completed items stay, and each item leads
    to its worker.
    """
    with readers.up() as (_, ready), open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab:
        begin_session(tab)
        tab.page.keyboard.press("Control+k")
        command = tab.page.get_by_role("dialog").get_by_role("combobox")
        command.fill("New job")
        command.press("Enter")
        dialog = tab.page.get_by_role("dialog", name="New job")
        begin = dialog.get_by_role("button", name="Start job")
        begin.click()
        expect(dialog.get_by_role("alert")).to_have_text(["Enter a title.", "Enter at least one item, one per line."])
        dialog.get_by_label("Title").fill("Read the notes")
        dialog.get_by_label("Instructions per item").fill("Say what is in it.")
        dialog.get_by_label("Items, one per line").fill("alpha.md\nbravo.md\n\ncharlie.md\n")
        expect(dialog.get_by_text("3 items")).to_be_visible()
        expect(dialog.get_by_label("Subagent")).to_have_value("reader")
        begin.click()
        expect(dialog).to_have_count(0)

        card = tab.page.get_by_role("region", name="Board").get_by_role("listitem")
        expect(card).to_contain_text("1 of 3 done · 1 failed · 1 running")
        expect(card).to_contain_text("Processed by reader")
        expect(tab.button("Failed: Read the notes")).to_have_count(0)
        (readers.place / "go").touch()
        expect(card).to_contain_text("2 of 3 done · 1 failed")
        tab.button("Failed: Read the notes").click()
        expect(find_item(tab, "alpha.md")).to_contain_text("Alpha is a note.")
        expect(find_item(tab, "bravo.md")).to_contain_text("Not this one.")
        tab.button("Retry bravo.md").click()
        expect(tab.page.get_by_role("progressbar")).to_have_attribute("aria-valuetext", "3 of 3 done")
        expect(find_item(tab, "bravo.md")).to_contain_text("Bravo is a list.")
        expect(find_item(tab, "bravo.md")).to_contain_text("2 attempts")
        expect(find_item(tab, "alpha.md")).not_to_contain_text("attempts")
        expect(tab.button("Failed: Read the notes")).to_have_count(0)
        find_item(tab, "bravo.md").get_by_role("button", name="reader-").click()
        expect(tab.page.get_by_role("heading", name="Transcript of reader-")).to_be_visible()
        expect(tab.conversation).to_contain_text("Bravo is a list.")
        assert tab.troubles == []


def test_a_job_is_started_and_cancelled_by_keyboard_alone(readers: Product, browser: Browser) -> None:
    """UI-21, UI-33: the dialog of a cancellation lists its effects. The cancellation ends running and
    waiting items.
    """
    with readers.up() as (_, ready), open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab:
        begin_session(tab)
        keys = tab.page.keyboard
        keys.press("Control+k")
        expect(tab.page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
        keys.type("New job")
        expect(tab.page.get_by_role("option", name="New job")).to_have_attribute("aria-selected", "true")
        keys.press("Enter")
        expect(tab.page.get_by_label("Title")).to_be_focused()
        keys.type("Read delta")
        keys.press("Tab")
        keys.press("Tab")
        keys.type("delta.md\ndelta.md once more")
        for _ in range(3):
            keys.press("Tab")
        expect(tab.page.get_by_role("dialog").get_by_label("Permission mode")).to_be_focused()
        keys.press("Shift+Tab")
        keys.type("1")
        keys.press("Enter")
        card = tab.page.get_by_role("region", name="Board").get_by_role("listitem")
        expect(card).to_contain_text("0 of 2 done · 1 running · 1 waiting")

        card.get_by_role("button", name="Read delta", exact=True).focus()
        keys.press("Enter")
        expect(tab.button("Back to board")).to_be_focused()
        keys.press("Tab")
        keys.press("Enter")
        expect(tab.page.locator("[role=menu]:focus, [role=menu] :focus")).to_have_count(1)
        keys.press("End")
        expect(tab.page.get_by_role("menuitem", name="Cancel job")).to_be_focused()
        keys.press("Enter")
        dialog = tab.page.get_by_role("dialog", name="Cancel “Read delta”?")
        expect(dialog).to_contain_text("Finished items do not change.")
        keys.press("Tab")
        expect(dialog.get_by_role("button", name="Cancel job")).to_be_focused()
        keys.press("Enter")
        expect(tab.page.get_by_role("progressbar")).to_have_attribute("aria-valuetext", "0 of 2 done · 2 cancelled")
        expect(tab.page.get_by_role("region", name="Read delta", exact=True)).to_contain_text("Cancelled")
        tab.button("Back to board").focus()
        keys.press("Enter")
        expect(card.get_by_role("button", name="Read delta", exact=True)).to_be_focused()
        assert tab.troubles == []


def test_a_job_starts_a_session_and_its_failed_item_stays_failed_after_a_cancellation(
    readers: Product, browser: Browser
) -> None:
    """UI-18, UI-21, CTL-11: a job without a message to the lead is visible, also after a reload."""
    with readers.up() as (_, ready), open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab:
        expect(tab.page.get_by_role("textbox", name="Message")).to_be_enabled()
        tab.page.keyboard.press("Control+k")
        command = tab.page.get_by_role("dialog").get_by_role("combobox")
        command.fill("job")
        expect(tab.page.get_by_role("option", name="New job")).to_have_attribute("aria-selected", "true")
        command.press("Enter")
        dialog = tab.page.get_by_role("dialog", name="New job")
        dialog.get_by_label("Title").fill("Read the notes")
        dialog.get_by_label("Items, one per line").fill("bravo.md\ndelta.md")
        dialog.get_by_role("button", name="Start job").click()
        expect(find_item(tab, "bravo.md")).to_contain_text("Not this one.")
        expect(find_item(tab, "delta.md")).to_contain_text("Running")
        tab.page.reload()
        expect(find_item(tab, "delta.md")).to_contain_text("Running")

        job = tab.page.get_by_role("region", name="Read the notes", exact=True)
        job.get_by_role("button", name="Actions for Read the notes").click()
        tab.page.get_by_role("menuitem", name="Cancel job").click()
        tab.page.get_by_role("dialog").get_by_role("button", name="Cancel job").click()
        expect(find_item(tab, "delta.md")).to_contain_text("Cancelled")
        expect(find_item(tab, "bravo.md")).to_contain_text("Failed")
        expect(find_item(tab, "bravo.md")).to_contain_text("Not this one.")
        expect(tab.page.get_by_role("progressbar")).to_have_attribute(
            "aria-valuetext", "0 of 2 done · 1 failed · 1 cancelled"
        )
        expect(tab.page.get_by_role("list", name="Items of").get_by_role("button", name="Retry")).to_have_count(0)
        expect(tab.page.get_by_role("button", name="Failed")).to_have_count(0)
        assert tab.troubles == []
