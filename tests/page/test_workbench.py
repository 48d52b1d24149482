"""The main job in a browser: ask, watch, approve, and find the session again."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product

from .page_driver import build_link, open_page

pytestmark = pytest.mark.browser

WRITING: dict[str, Any] = {
    "calls": [
        [
            {"reasoning": "The notes first."},
            {"text": "I will look, then write."},
            {"tool": {"name": "Read", "arguments": {"file_path": "README.md"}}},
        ],
        [{"tool": {"name": "Write", "arguments": {"file_path": "hello.txt", "content": "hello\n"}}}],
        [{"text": "I wrote **hello.txt**."}],
    ]
}


def test_a_prompt_leads_to_an_approved_write_that_is_present_after_a_kill(product: Product, browser: Browser) -> None:
    """UI-02, UI-03, UI-04, UI-05, UI-09, UI-29: the page shows what happened, also after kill -9."""
    product.plays(WRITING)
    written = product.folder / "hello.txt"
    with product.up() as (server, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Say hello in a file")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card).to_contain_text("Allow Write?")
        expect(tab.conversation).to_contain_text("Say hello in a file")
        expect(tab.conversation).to_contain_text("I will look, then write.")
        assert not written.exists()
        tab.button("Approve").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I wrote hello.txt.")
        expect(card).to_have_count(0)
        assert written.read_text() == "hello\n"
        assert tab.troubles == []
        address = tab.page.url.split("#", 1)[1]
        server.signal(signal.SIGKILL)
        server.wait()
    with product.up() as (_, ready), open_page(browser, build_link(ready, address)) as tab:
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I wrote hello.txt.")
        expect(tab.status).to_contain_text("Done")
        expect(tab.conversation).to_contain_text("2 tool calls")


def test_text_that_streamed_during_a_kill_of_the_host_reads_as_interrupted(product: Product, browser: Browser) -> None:
    """MAR-16, UI-26: the page shows the interrupted turn with its text."""
    streamed = [
        {"repeat": {"text": "word ", "times": 300}, "delay_ms": 5},
        {"text": "and more. "},
        {"wait_for": "never"},
    ]
    product.plays({"calls": [streamed]})
    with product.up() as (server, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Talk")
        expect(tab.conversation).to_contain_text("and more")
        expect(tab.status).to_contain_text("Responding")
        product.until_kept("word word word")
        address = tab.page.url.split("#", 1)[1]
        server.signal(signal.SIGKILL)
        server.wait()
    with product.up() as (_, ready), open_page(browser, build_link(ready, address)) as tab:
        expect(tab.status).to_contain_text("Interrupted")
        expect(tab.conversation).to_contain_text("word word word")


def test_the_main_job_can_be_done_by_keyboard_alone(product: Product, browser: Browser) -> None:
    """The composer has the first focus, and one key approves."""
    product.plays(WRITING)
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        expect(tab.composer).to_be_focused()
        tab.page.keyboard.type("Say hello in a file")
        tab.page.keyboard.press("Enter")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card).to_be_visible()
        card.focus()
        tab.page.keyboard.press("a")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I wrote hello.txt.")


def test_a_rejected_call_has_no_effect_and_its_reason_is_shown(product: Product, browser: Browser) -> None:
    """CTL-05, UI-09: the request leaves attention and stays as an audit line."""
    product.plays(WRITING)
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Say hello in a file")
        card = tab.page.get_by_role("region", name="Pending request")
        card.get_by_role("textbox").fill("not here")
        tab.button("Reject").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_be_visible()
        expect(card).to_have_count(0)
        assert not (product.folder / "hello.txt").exists()


def test_a_message_during_a_turn_needs_a_choice(product: Product, browser: Browser) -> None:
    """UI-11, UI-12: the person chooses between queue, steer and interrupt."""
    product.plays(
        {
            "match": [
                {"text": "first", "calls": [[{"text": "Working."}, {"wait_for": "never"}]]},
                {"text": "second", "calls": [[{"text": "Second done."}]]},
            ]
        }
    )
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send("first")
        expect(tab.status).to_contain_text("Responding")
        tab.composer.fill("second")
        tab.composer.press("Enter")
        expect(tab.page.get_by_role("alert").filter(has_text="Send this message how?")).to_be_visible()
        expect(tab.composer).to_have_value("second")
        tab.page.get_by_role("radio", name="Queue").click()
        tab.composer.press("Enter")
        expect(tab.page.get_by_role("img", name="Position 1")).to_be_visible()
        tab.button("Interrupt").first.click()
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("Second done.")


def test_hostile_text_is_not_executed(product: Product, browser: Browser) -> None:
    """SAFE-06: Markdown, tool output and names are shown and never executed."""
    hostile = (
        "<img src=x onerror=alert(1)><script>window.pwned=1</script>[click](javascript:alert(2)) "
        "<iframe src='javascript:alert(3)'></iframe> ![x](javascript:alert(4)) \x1b]0;title\x07\x1b[31mred"
    )
    (product.folder / "<img src=x onerror=alert(5)>.txt").write_text(hostile)
    product.plays(
        {
            "calls": [
                [{"tool": {"name": "Glob", "arguments": {"pattern": "*.txt"}}}],
                [{"reasoning": hostile}, {"text": hostile}],
            ]
        }
    )
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.send(hostile)
        answer = tab.page.get_by_role("article", name="Answer")
        expect(answer).to_contain_text("click")
        assert tab.page.evaluate("window.pwned") is None
        assert answer.locator("a[href^='javascript'], script, iframe, img").count() == 0
        assert [trouble for trouble in tab.troubles if trouble.startswith("dialog")] == []


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_in_both_languages_and_schemes(
    product: Product, browser: Browser, locale: str, scheme: str
) -> None:
    """Axe reports no violation on the first page and on a conversation."""
    product.plays(WRITING)
    with product.up() as (_, ready), open_page(browser, ready["link"], locale=locale, color_scheme=scheme) as tab:
        message_field = tab.page.get_by_role("textbox").last
        expect(message_field).to_be_visible()
        for prompt in ("", "Say hello in a file"):
            if prompt:
                message_field.fill(prompt)
                message_field.press("Enter")
                expect(tab.page.get_by_text("hello.txt").first).to_be_visible()
            assert tab.list_violations() == []
