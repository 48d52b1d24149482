"""The tools of an agent, background processes, and a compaction in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import PageDriver, open_page

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
READER = """---
name: reader
description: Reads.
kind: main
lead: true
tools: [Read, Bash]
policy: [Patch, Finalize]
---
You read.
"""
ECHO: dict[str, Any] = {
    "calls": [
        uses("Bash", command="while read line; do echo heard $line; done", background=True),
        says("It listens."),
    ]
}
TALK: dict[str, Any] = {"calls": [says("The first answer."), says("The second answer.")]}


def open_panel(tab: PageDriver, name: str, label: str) -> Locator:
    """Open a panel of the details by the palette."""
    tab.page.keyboard.press("Control+k")
    tab.page.get_by_role("option", name=name).click()
    return tab.page.get_by_role("tabpanel", name=label)


@pytest.mark.parametrize("width", [1440, 420])
def test_the_tabs_of_the_details_fit_on_one_line(product: Product, browser: Browser, width: int) -> None:
    """UI-31: the English labels are the longest."""
    viewport = {"width": width, "height": 900}
    with product.plays(TALK).up() as (_, ready), open_page(browser, ready["link"], viewport=viewport) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("The first answer.")
        tab.button("Show details").click()
        tabs = tab.page.get_by_role("tab")
        expect(tabs).to_have_text(["Turn", "Permissions", "Artifacts", "Context", "Tools", "Team"])
        assert len({box["y"] for label in tabs.all() if (box := label.bounding_box()) is not None}) == 1
        assert tab.troubles == []


def test_the_inventory_lists_the_tools_of_an_agent_and_the_excluded_ones_with_reasons(
    product: Product, browser: Browser
) -> None:
    """An excluded tool has its reason, and a read-only tool is marked."""
    (product.folder / "agents").mkdir(exist_ok=True)
    (product.folder / "agents" / "reader.md").write_text(READER)
    with product.plays(TALK).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("The first answer.")
        tools = open_panel(tab, "Show tools", "Tools")
        read = tools.get_by_role("listitem").filter(has=tab.page.get_by_text("Read", exact=True))
        expect(read).to_contain_text("Read-only")
        tools.get_by_role("button", name="excluded").click()
        write = tools.get_by_role("listitem").filter(has=tab.page.get_by_text("Write", exact=True))
        expect(write).to_be_visible()
        assert tab.troubles == []


def test_a_background_process_receives_input_and_is_terminated(product: Product, browser: Browser) -> None:
    """The page shows the output of the running process, even if its last letter may begin a secret.
    The person ends the process.
    """
    product.variables["CALLBOARD_SECRET_DEPLOY"] = "e7Kq-x2Zp9w"
    with product.plays(ECHO).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.send("Listen")
        expect(tab.page.get_by_role("region", name="Pending request")).to_contain_text("Bash")
        tab.button("Approve").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("It listens.")
        processes = open_panel(tab, "Show tools", "Tools").get_by_role("list", name="Background processes")
        expect(processes).to_contain_text("Running")
        processes.get_by_role("button", name="Output").click()
        processes.get_by_role("textbox").fill("me")
        processes.get_by_role("button", name="Send", exact=True).click()
        expect(processes.get_by_role("group", name="Output")).to_contain_text("heard me")
        processes.get_by_role("button", name="Terminate while").click()
        expect(processes).to_contain_text("Terminated")
        expect(processes.get_by_role("textbox")).to_have_count(0)
        assert tab.troubles == []


def test_a_person_compacts_a_conversation_and_the_summary_is_not_an_answer(product: Product, browser: Browser) -> None:
    """UI-25: a compaction is a separate line. A click shows the summary for the model."""
    with product.plays(TALK).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        for answer in ("The first answer.", "The second answer."):
            tab.send("Hello")
            expect(tab.page.get_by_role("article", name="Answer").last).to_have_text(answer)
        open_panel(tab, "Show context", "Context").get_by_role("button", name="Compact now").click()
        line = tab.conversation.get_by_role("button", name="Conversation compacted on request")
        expect(line).to_be_visible()
        summary = tab.conversation.get_by_role("region", name="Summary for the model")
        expect(summary).to_have_count(0)
        line.click()
        expect(summary).to_contain_text("The first answer.")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_count(2)
        assert tab.troubles == []
