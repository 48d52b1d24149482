"""An approval card in a browser: the command, counts of hidden parts, and the question below (X7)."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product

from .page_driver import open_page

pytestmark = pytest.mark.browser

#: A second command after empty lines, an invisible character, and a text that no shell can parse.
HIDDEN = f"true{chr(10) * 600}touch ma\u00adde"
UNREADABLE = "echo 'a"


def test_the_command_is_above_the_question_and_hidden_parts_are_counted(product: Product, browser: Browser) -> None:
    """X7: only the card's title is above the command."""
    calls = [
        [{"tool": {"name": "Bash", "arguments": {"command": script, "description": "Does nothing"}}}]
        for script in (HIDDEN, UNREADABLE)
    ]
    product.plays({"calls": [*calls, [{"text": "I ran both."}]]})
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Run something")
        card = tab.page.get_by_role("region", name="Pending request")
        preview = card.get_by_role("group", name="Preview")
        expect(preview).to_contain_text("… 599 empty lines")
        expect(preview).to_contain_text("touch ma⟨U+00AD⟩de")
        expect(card.get_by_role("listitem")).to_have_text(["2 commands", "601 lines", "1 invisible character"])
        description = card.get_by_text("Agent’s description:")
        command_box, question_box, description_box = (
            locator.bounding_box()
            for locator in (preview, card.get_by_text("Runs this command in the sandbox"), description)
        )
        assert command_box is not None
        assert question_box is not None
        assert description_box is not None
        assert command_box["y"] < question_box["y"] < description_box["y"]
        card.get_by_role("button", name="Reject").click()
        expect(card.get_by_role("listitem")).to_have_text(
            [
                "Unknown number of commands",
                "It may delete or overwrite what Callboard cannot restore.",
            ]
        )
        card.get_by_role("button", name="Reject").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I ran both.")
        assert tab.troubles == []
