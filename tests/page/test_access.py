"""Sign-in of the page in a real browser: first, after a reload, and after a restart."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product
from tests.prove.driver import store

from .page_driver import build_link, open_page

SIGN_IN_TEXTS = {"en-US": ("You are not signed in", "Retry"), "zh-CN": ("你尚未登录", "重试")}


def test_the_code_leaves_the_address_and_a_reload_and_a_second_tab_stay_signed_in(
    product: Product, browser: Browser
) -> None:
    """X1: there is no cookie, and the printed link opens nothing a second time."""
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        expect(tab.composer).to_be_visible()
        clean = f"{ready['url']}/#/w/{ready['workspaceId']}"
        assert tab.page.url == clean
        assert tab.page.context.cookies() == []
        tab.page.reload()
        expect(tab.composer).to_be_visible()
        second = tab.page.context.new_page()
        second.goto(clean)
        expect(second.get_by_role("textbox", name="Message", exact=True)).to_be_visible()
        with open_page(browser, ready["link"]) as stranger:
            expect(stranger.page.get_by_role("heading", name=SIGN_IN_TEXTS["en-US"][0])).to_be_visible()


def test_after_a_restart_one_new_link_signs_every_open_tab_in(product: Product, browser: Browser) -> None:
    """X1: a credential ends with its server, and typed text stays."""
    with product.up() as (server, ready), open_page(browser, ready["link"]) as tab:
        expect(tab.composer).to_be_visible()
        tab.composer.fill("not sent yet")
        port = ready["url"].rpartition(":")[2]
        server.signal(signal.SIGINT)
        server.wait()
        with product.up("--port", port) as (_, again):
            assert again["url"] == ready["url"]
            heading = tab.page.get_by_role("heading", name=SIGN_IN_TEXTS["en-US"][0])
            expect(heading).to_be_visible()
            opened = tab.page.context.new_page()
            opened.goto(again["link"])
            expect(opened.get_by_role("textbox", name="Message", exact=True)).to_be_visible()
            expect(heading).to_have_count(0)
            expect(tab.composer).to_have_value("not sent yet")


def test_a_grant_is_confirmed_next_to_its_content(product: Product, browser: Browser) -> None:
    """X1: the notice about the folder is the confirmation. There is no second dialog."""
    (product.folder / ".callboard").mkdir()
    (product.folder / ".callboard" / "settings.toml").write_text(
        '[[rules]]\nmatcher = "Bash(ls *)"\nverdict = "allow"\n'
    )
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        notice = tab.page.get_by_role("region", name="Trust request")
        expect(notice).to_contain_text("Bash(ls *)")
        tab.button("Trust folder").click()
        expect(notice).to_have_count(0)
        assert tab.troubles == []
        (facts,) = (facts for stream, facts in store.read(product.home / "store").facts.items() if "wks_" in stream)
        assert [(fact.type, fact.actor["id"]) for fact in facts if "trust" in fact.type] == [
            ("workspace.trusted", "page")
        ]


@pytest.mark.parametrize("locale", sorted(SIGN_IN_TEXTS))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sign_in_notice_shows_one_step_in_both_languages_and_schemes(
    product: Product, browser: Browser, locale: str, scheme: str
) -> None:
    """X1: a page without a credential shows the next step."""
    with (
        product.up() as (_, ready),
        open_page(browser, build_link(ready, "/").partition("#")[0], locale=locale, color_scheme=scheme) as tab,
    ):
        heading, retry = SIGN_IN_TEXTS[locale]
        expect(tab.page.get_by_role("heading", name=heading)).to_be_visible()
        expect(tab.page.get_by_text("callboard", exact=False).first).to_be_visible()
        expect(tab.button(retry)).to_be_visible()
        if pictures := os.environ.get("CALLBOARD_PICTURES"):
            tab.page.screenshot(path=str(Path(pictures) / f"sign-in-{locale}-{scheme}.png"))
