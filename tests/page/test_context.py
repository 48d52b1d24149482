"""Context of a turn in a browser: attached files, mentions, instructions and pins."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product, says

from .page_driver import open_page

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
ANSWERS: dict[str, Any] = {"images": True, "calls": [says("I have read it."), says("And that too.")]}


def build_image() -> bytes:
    """Return a PNG of one red pixel."""

    def build_chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixel = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            build_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
            build_chunk(b"IDAT", pixel),
            build_chunk(b"IEND", b""),
        )
    )


def test_files_are_attached_mentioned_and_shown_with_the_turn_and_missing_ones_are_marked(
    product: Product, browser: Browser
) -> None:
    """UI-25, CTX-01, CTX-02: chips show the turn's context and mark missing files. The panel shows
    the reasons.
    """
    with product.plays(ANSWERS).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        picker = tab.page.get_by_label("Attach files")
        picker.set_input_files(
            [
                {"name": "dot.png", "mimeType": "image/png", "buffer": build_image()},
                {"name": "figures.csv", "mimeType": "text/csv", "buffer": b"day,level\n1,2\n"},
            ]
        )
        attached = tab.page.get_by_role("list", name="Attached files")
        expect(attached.get_by_role("listitem")).to_have_count(2)
        attached.get_by_role("button", name="Remove figures.csv").click()
        expect(attached.get_by_role("listitem")).to_have_count(1)
        tab.composer.press_sequentially("Look at @READ")
        suggestions = tab.page.get_by_role("listbox", name="Suggestions")
        expect(suggestions.get_by_role("option", selected=True)).to_contain_text("README.md")
        tab.composer.press("Enter")
        expect(tab.composer).to_have_value("Look at @README.md ")
        tab.composer.press_sequentially("and @nowhere.txt ")
        tab.composer.press("Enter")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I have read it.")
        attachments = tab.page.get_by_role("list", name="Attachments")
        expect(attachments).to_contain_text("README.md")
        expect(attachments).to_contain_text("nowhere.txt not found")
        expect(attachments.get_by_role("img", name="dot.png")).to_be_visible()
        expect(attached).to_have_count(0)
        tab.page.keyboard.press("Control+k")
        tab.page.get_by_role("option", name="Show context").click()
        panel = tab.page.get_by_role("tabpanel", name="Context")
        expect(panel.get_by_role("list", name="Latest run")).to_contain_text("README.md mentioned")
        expect(panel.get_by_role("list", name="Missing")).to_contain_text("nowhere.txt")
        assert tab.troubles == []


def test_an_image_that_the_model_does_not_support_is_reported_before_sending(
    product: Product, browser: Browser
) -> None:
    """M5: the server names the model that would receive the input. After a refusal the draft and
    the file stay.
    """
    blind = product.plays({"calls": [says("I have read it.")]})
    with blind.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.page.get_by_label("Attach files").set_input_files(
            [{"name": "dot.png", "mimeType": "image/png", "buffer": build_image()}]
        )
        warning = "scenario/scenario does not support images. Remove the image or choose another model."
        expect(tab.page.locator("form").get_by_role("status")).to_have_text(warning)
        tab.composer.fill("Look at it")
        tab.composer.press("Enter")
        expect(tab.page.get_by_text("scenario/scenario takes no images: dot.png")).to_be_visible()
        expect(tab.composer).to_have_value("Look at it")
        tab.page.get_by_role("button", name="Remove dot.png").click()
        expect(tab.page.get_by_text(warning)).to_have_count(0)
        tab.composer.press("Enter")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I have read it.")
        (refused,) = tab.troubles
        assert "422" in refused


def test_a_pinned_file_is_context_of_every_turn_until_it_is_unpinned(product: Product, browser: Browser) -> None:
    """CTX-01: pins belong to the thread."""
    (product.folder / "AGENTS.md").write_text("Answer in one line.\n")
    with product.plays(ANSWERS).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I have read it.")
        tab.page.keyboard.press("Control+k")
        tab.page.get_by_role("option", name="Show context").click()
        panel = tab.page.get_by_role("tabpanel", name="Context")
        latest = panel.get_by_role("list", name="Latest run")
        expect(latest).to_contain_text("AGENTS.md")
        panel.get_by_role("textbox").fill("README.md")
        panel.get_by_role("button", name="Pin", exact=True).click()
        expect(panel.get_by_role("list", name="Pinned")).to_contain_text("README.md")
        tab.send("Again")
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("And that too.")
        expect(latest).to_contain_text("README.md pinned")
        panel.get_by_role("button", name="Unpin README.md").click()
        expect(panel.get_by_role("list", name="Pinned").get_by_role("listitem")).to_have_count(0)
        assert tab.troubles == []
