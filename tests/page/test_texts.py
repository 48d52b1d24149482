"""Texts of decisions, refusals and times in both languages, and the focus after an action."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import open_page

pytestmark = pytest.mark.browser

HELLO = {"calls": [uses("Write", file_path="hello.txt", content="hello\n"), says("As you wish.")]}


def test_a_rejection_is_one_line_and_the_wait_for_it_counts_as_no_work(product: Product, browser: Browser) -> None:
    """CTL-05, UI-09"""
    with product.plays(HELLO).up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Say hello in a file")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card).to_contain_text("Creates hello.txt with 1 line")
        expect(card).to_contain_text("The permission mode is Ask first.")
        expect(tab.status).to_contain_text("Needs input")
        card.get_by_role("textbox").fill("not here")
        tab.button("Reject").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("As you wish.")
        expect(tab.composer).to_be_focused()
        tab.conversation.get_by_role("button", name="1 tool call").click()
        line = tab.conversation.get_by_text("Rejected by you")
        expect(line).to_be_visible()
        expect(tab.conversation).to_contain_text("not here")
        expect(tab.conversation.get_by_role("button", name="Write hello.txt")).to_contain_text("Rejected")
        expect(tab.status).not_to_contain_text("call ")


def test_the_card_of_a_write_without_a_change_reads_no_change(product: Product, browser: Browser) -> None:
    (product.folder / "hello.txt").write_text("hello\n")
    with product.plays(HELLO).up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Say hello in a file")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card).to_contain_text("No change: hello.txt already has this content.")
        tab.button("Approve").click()
        tab.conversation.get_by_role("button", name="1 tool call").click()
        expect(tab.conversation.get_by_role("button", name="Write hello.txt")).to_contain_text("no change")


def test_a_request_is_worded_in_the_language_of_the_page(product: Product, browser: Browser) -> None:
    with product.plays(HELLO).up() as (_, ready), open_page(browser, ready["link"], locale="zh-CN") as tab:
        message_field = tab.page.get_by_role("textbox", name="消息", exact=True)
        message_field.fill("Say hello in a file")
        message_field.press("Enter")
        card = tab.page.get_by_role("region", name="待处理请求")
        expect(card).to_contain_text("创建 hello.txt，共 1 行")
        expect(card).not_to_contain_text("Create hello.txt")


def test_a_refusal_and_the_checks_of_the_gate_are_worded_in_the_language_of_the_page(
    product: Product, browser: Browser
) -> None:
    """UI-27: the page words every refusal by its code, without English text of the runtime."""
    product.home.mkdir()
    (product.home / "settings.toml").write_text('[[rules]]\nmatcher = "Read(secret/**)"\nverdict = "deny"\n')
    refused = [uses("Read", file_path="../x"), uses("Read", file_path="secret/a.txt"), says("As you wish.")]
    with product.plays({"calls": refused}).up() as (_, ready), open_page(browser, ready["link"], locale="zh-CN") as tab:
        message_field = tab.page.get_by_role("textbox", name="消息", exact=True)
        message_field.fill("Read what you can")
        message_field.press("Enter")
        expect(tab.page.get_by_role("article")).to_contain_text(["As you wish."])
        tab.conversation.get_by_role("button").filter(has_text="2").first.click()
        expect(tab.conversation).to_contain_text("../x 经过上级文件夹（..）。")
        expect(tab.conversation).to_contain_text("你的设置中的规则拒绝：Read(secret/**)")
        tab.button("显示详情").click()
        tab.page.get_by_role("tab", name="权限").click()
        checks = tab.page.get_by_role("tabpanel")
        expect(checks).to_contain_text("已拒绝 你的设置中的规则拒绝：Read(secret/**)")
        for english in ("goes through a parent", "denies it", "policy is"):
            expect(tab.page.get_by_text(english)).to_have_count(0)


def test_an_interrupt_focuses_the_composer_and_returns_the_text_of_an_unsent_steer(
    product: Product, browser: Browser
) -> None:
    """UI-11: the steer is shown in its turn and not in the queue. A rejected one can be sent as a
    new turn.
    """
    product.plays(
        {
            "match": [
                {"text": "first", "calls": [[{"text": "Working."}, {"wait_for": "never"}]]},
                {"text": "the tests", "calls": [says("The tests, then.")]},
            ]
        }
    )
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("first")
        expect(tab.status).to_contain_text("Responding")
        tab.composer.fill("Mind the tests")
        tab.page.get_by_role("radio", name="Steer").click()
        tab.composer.press("Enter")
        expect(tab.conversation).to_contain_text("sends with the next model call")
        expect(tab.page.get_by_role("img", name="Position 1")).to_have_count(0)
        tab.status.get_by_role("button", name="Interrupt").click()
        expect(tab.conversation).to_contain_text("Interrupted by you")
        expect(tab.composer).to_be_focused()
        expect(tab.conversation).to_contain_text("The turn was interrupted first.")
        tab.button("Send as new turn").click()
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("The tests, then.")


def test_the_palette_leads_to_the_message_field_by_keyboard_alone(product: Product, browser: Browser) -> None:
    with product.plays({"calls": [says("Here.")]}).up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Here.")
        tab.button("Diagnostics").focus()
        tab.page.keyboard.press("Control+k")
        expect(tab.page.get_by_placeholder("Search commands and sessions")).to_be_focused()
        tab.page.keyboard.type("message box")
        tab.page.keyboard.press("Enter")
        expect(tab.composer).to_be_focused()


def test_the_page_shows_its_latencies_outside_the_conversation(product: Product, browser: Browser) -> None:
    """UI-32"""
    with product.plays({"calls": [says("Here.")]}).up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Here.")
        tab.button("Diagnostics").click()
        figures = tab.page.get_by_role("dialog", name="Diagnostics")
        for figure in ("Send to status", "Send to first text", "Update to paint", "Open session"):
            expect(figures.get_by_role("row", name=figure)).to_be_visible()
        expect(tab.conversation).not_to_contain_text("Send to status")
        assert tab.troubles == []


@pytest.mark.parametrize("width", [390, 420])
def test_a_narrow_page_shows_the_whole_status_and_no_content_beyond_its_edge(
    product: Product, browser: Browser, width: int
) -> None:
    narrow = {"viewport": {"width": width, "height": 800}}
    with product.plays(HELLO).up() as (_, ready), open_page(browser, ready["link"], **narrow) as tab:
        tab.send("Say hello in a file that is in the folder")
        status = tab.status.get_by_role("status")
        expect(status).to_have_text("Needs input")
        assert status.evaluate("text => text.scrollWidth <= text.clientWidth")
        assert tab.page.evaluate("document.documentElement.scrollWidth") == width
        for name in ("Reject", "Approve"):
            box = tab.button(name).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["height"] <= 32
