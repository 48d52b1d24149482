"""A remote agent in a browser: the official SDK's server over real HTTP, which asks for input."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.adapters.a2a.peer import Peer, Play, Task, peer
from tests.app.rigs.product import PATIENCE, Product, says, uses

from .page_driver import open_page

pytestmark = pytest.mark.browser

HOST = """---
name: host
description: Works here.
kind: main
lead: true
tools: ["*"]
policy: [Finalize]
edges: [{to: painter, direction: both}]
---
You work here.
"""
SCENARIO: dict[str, Any] = {
    "match": [
        {
            "agent": "host",
            "text": "Paint",
            "calls": [uses("send_handoff", to="painter", message="Paint the roof."), says("The painter has it.")],
        },
        {"agent": "host", "text": "", "calls": [says("Good.")] * 4},
    ]
}


async def ask_colour(task: Task) -> None:
    """Ask for the colour, and deliver the roof."""
    if task.input == "Blue.":
        await task.updater.add_artifact(list(task.reply("A blue roof.").parts), artifact_id="a1", name="roof")
        await task.updater.complete(task.reply("It is blue."))
        return
    await task.updater.requires_input(task.reply("Which colour?"))


async def _stop_server(served: AbstractAsyncContextManager[Peer]) -> None:
    await served.__aexit__(None, None, None)
    # The server's streams continue after it stops.
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def run_peer(play: Play) -> Iterator[Peer]:
    """Run the remote agent in a thread with its own loop, because the browser uses this thread's."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    served = peer(play)
    try:
        yield asyncio.run_coroutine_threadsafe(served.__aenter__(), loop).result(PATIENCE)
    finally:
        asyncio.run_coroutine_threadsafe(_stop_server(served), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


def test_a_question_of_a_remote_agent_is_answered_with_a_text(product: Product, browser: Browser) -> None:
    """UI-09, UI-23: the question names the agent and is answered by keyboard. Only the agent's
    report ends its task.
    """
    agents = product.folder / "agents"
    agents.mkdir()
    product.plays(SCENARIO)
    options: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
    with run_peer(ask_colour) as there, product.up() as (_, ready), open_page(browser, ready["link"], **options) as tab:
        (agents / "host.md").write_text(HOST)
        (agents / "painter.md").write_text(
            f"---\nname: painter\ndescription: Paints.\nkind: remote\nurl: {there.url}\n---\nBe brief.\n"
        )
        tab.send("Paint the roof")
        card = tab.page.get_by_role("region", name="Pending request")
        # The person approves the first connection to another machine.
        expect(card).to_be_visible()
        expect(card).to_contain_text(there.url)
        tab.button("Approve").click()
        question = tab.page.get_by_role("heading", name="Question")
        expect(question).to_be_visible()
        expect(card).to_contain_text("Requested by painter")
        expect(card).to_contain_text("Which colour?")
        roster = tab.page.get_by_role("list", name="Agents").get_by_role("listitem").filter(has_text="painter")
        expect(roster).to_contain_text("Needs input")
        answer = card.get_by_role("textbox", name="Your answer")
        answer.press("Control+Enter")
        expect(card.get_by_role("alert")).to_have_text("Enter an answer.")
        answer.fill("Blue.")
        answer.press("Control+Enter")
        expect(card).to_have_count(0)
        expect(roster).to_contain_text("last status: Done")
        expect(roster).not_to_contain_text("Needs input")
        roster.get_by_role("button", name="Show details of painter").click()
        facts = roster.get_by_role("region", name="painter, remote agent")
        expect(facts).to_contain_text("Peer 2.1")
        facts.get_by_role("button", name="roof").click()
        expect(facts).to_contain_text("A blue roof.")
        assert tab.troubles == []
