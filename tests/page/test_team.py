"""A team in a browser: work, requests, results and records."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import PageDriver, build_link, open_page

pytestmark = pytest.mark.browser

LEAD = """---
name: lead
description: Splits an objective and puts the results together.
kind: main
role: planner
lead: true
tools: ["*"]
policy:
  allow: [Patch, Delegate, Finalize]
  delegate_targets: [worker]
---
You coordinate.
"""
WORKER = """---
name: worker
description: Does one part.
kind: subagent
role: executor
tools: [Read, Glob, Write]
policy: [Patch]
---
You do one part.
"""
#: The lead starts two workers and waits for both. The first reads, the second asks to write a file.
TEAM: dict[str, Any] = {
    "agents": {
        "lead": [
            uses("spawn_subagent", text="Two parts.", agent="worker", objective="Look around", title="Look"),
            uses("spawn_subagent", agent="worker", objective="Write the note", title="Note"),
            uses("wait_subagents"),
            says("Both parts are done."),
        ]
    },
    "match": [
        {
            "text": "Look around",
            "agent": "worker",
            "calls": [uses("Glob", pattern="*.md"), says("There is a readme.")],
        },
        {
            "text": "Write the note",
            "agent": "worker",
            "calls": [uses("Write", file_path="note.txt", content="noted\n"), says("The note is written.")],
        },
    ],
}


@pytest.fixture
def crew(product: Product) -> Product:
    """Provide a folder with a lead and workers."""
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    (agents / "worker.md").write_text(WORKER)
    return product.plays(TEAM)


def start_team(tab: PageDriver) -> None:
    """Send the objective, and wait until the second worker asks."""
    tab.send("Get the work done")
    expect(tab.page.get_by_role("region", name="Pending request")).to_be_visible()


def open_view(tab: PageDriver, name: str) -> None:
    """Open a view of the team."""
    tab.page.get_by_role("navigation", name="Team views").get_by_role("button", name=name).click()


def test_a_team_works_asks_and_returns_its_results(crew: Product, browser: Browser) -> None:
    """UI-10, UI-16, UI-17, UI-24, UI-29: the lead's view names the asking worker and takes the
    answer. The results are on the page.
    """
    with (
        crew.up() as (server, ready),
        open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab,
    ):
        start_team(tab)
        roster = tab.page.get_by_role("list", name="Agents")
        asking = roster.get_by_role("listitem").filter(has_text="worker-2")
        expect(asking).to_contain_text("Needs input")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card).to_contain_text("Requested by worker-2 for lead")
        expect(roster.get_by_role("listitem").filter(has_text="worker-1")).to_contain_text("Done")
        assert not (crew.folder / "note.txt").exists()
        tab.button("Approve").click()
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("Both parts are done.")
        expect(card).to_have_count(0)
        assert (crew.folder / "note.txt").read_text() == "noted\n"
        expect(asking).to_contain_text("Done")
        # Texts of the workers are not part of the lead's conversation.
        expect(tab.conversation).not_to_contain_text("The note is written.")
        assert tab.troubles == []
        address = tab.page.url.split("#", 1)[1]
        server.signal(signal.SIGKILL)
        server.wait()
    with crew.up() as (_, ready), open_page(browser, build_link(ready, address)) as tab:
        expect(tab.page.get_by_role("list", name="Agents").get_by_role("listitem")).to_have_count(3)
        open_view(tab, "Graph")
        expect(tab.page.get_by_role("img", name="lead started worker-1")).to_be_attached()
        expect(tab.page.get_by_role("img", name="lead started worker-2")).to_be_attached()


def test_each_view_of_a_team_shows_its_own_facts(crew: Product, browser: Browser) -> None:
    """UI-16, UI-18, UI-21, MAR-15, COM-15: transcript, board, notifications and runs. A solo run
    has none of them.
    """
    with crew.up() as (_, ready), open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab:
        start_team(tab)
        roster = tab.page.get_by_role("list", name="Agents")
        roster.get_by_role("button", name="worker-2 Executor").click()
        expect(tab.page.get_by_role("heading", name="Transcript of worker-2")).to_be_visible()
        expect(tab.page.get_by_role("article", name="From lead")).to_contain_text("Write the note")
        expect(tab.conversation).to_contain_text("note.txt")
        open_view(tab, "Runs")
        runs = tab.page.get_by_role("list", name="Runs")
        expect(runs.get_by_role("listitem")).to_have_count(3)
        runs.get_by_role("listitem").filter(has_text="worker-1").get_by_role("button", name="Pin run").click()
        timeline = tab.page.get_by_role("list", name="Run timeline")
        expect(timeline).to_contain_text("Glob")
        tab.button("Approve").click()
        expect(tab.status).to_contain_text("Done")
        # A pinned run shows only its facts, not those of later runs.
        expect(timeline).to_contain_text("Glob")
        expect(timeline).not_to_contain_text("note.txt")
        open_view(tab, "Board")
        board = tab.page.get_by_role("region", name="Board")
        done = board.get_by_role("listitem").filter(has_text="Note")
        expect(done).to_contain_text("worker-2")
        expect(board.get_by_role("group", name="Done").get_by_role("listitem")).to_have_count(3)
        open_view(tab, "Activity")
        notifications = tab.page.get_by_role("region", name="Notifications")
        expect(notifications).to_contain_text("The note is written.")
        expect(notifications).to_contain_text("There is a readme.")
        assert tab.troubles == []


@pytest.mark.parametrize(("locale", "scheme"), [("en-US", "light"), ("zh-CN", "dark")])
def test_every_view_of_a_team_is_accessible(crew: Product, browser: Browser, locale: str, scheme: str) -> None:
    """Axe reports no violation in any view next to the roster."""
    options: dict[str, Any] = {"locale": locale, "color_scheme": scheme, "viewport": {"width": 1440, "height": 900}}
    with crew.up() as (_, ready), open_page(browser, ready["link"], **options) as tab:
        message_field = tab.page.get_by_role("textbox").last
        message_field.fill("Get the work done")
        message_field.press("Enter")
        expect(tab.page.locator("#pending-action")).to_be_visible()
        views = tab.page.locator("main nav button")
        expect(views).to_have_count(5)
        for number, content in enumerate(
            (".react-flow__edge", "main [role=group]", "main section li", "main ol li"), 1
        ):
            views.nth(number).click()
            expect(tab.page.locator(content).first).to_be_attached()
            assert tab.list_violations() == []


def test_a_card_of_the_board_moves_by_keyboard_when_its_fact_arrives(crew: Product, browser: Browser) -> None:
    """UI-21, UI-33: a move is a command."""
    with crew.up() as (_, ready), open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab:
        start_team(tab)
        open_view(tab, "Board")
        menu = tab.button("Actions for Note")
        menu.focus()
        tab.page.keyboard.press("Enter")
        tab.page.get_by_role("menuitem", name="Move to Blocked").focus()
        tab.page.keyboard.press("Enter")
        blocked = tab.page.get_by_role("group", name="Blocked")
        expect(blocked.get_by_role("listitem").filter(has_text="Note")).to_be_visible()


def test_an_agent_alone_shows_no_team(product: Product, browser: Browser) -> None:
    """UI-18: the page shows no team."""
    product.plays({"calls": [says("Alone.")]})
    with product.up() as (_, ready), open_page(browser, ready["link"], viewport={"width": 1440, "height": 900}) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Alone.")
        expect(tab.page.get_by_role("navigation", name="Team views")).to_have_count(0)
        expect(tab.page.get_by_role("list", name="Agents")).to_have_count(0)
