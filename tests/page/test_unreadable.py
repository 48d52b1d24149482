"""A session that cannot be read, opened in a browser: why, and what to do."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app.product import Product, says

from .desk import desk, link_at

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
DAMAGE = """
UPDATE facts SET payload = zeroblob(3)
WHERE sequence = 2 AND stream = (SELECT number FROM streams WHERE name LIKE 'ses_%')
"""


@pytest.mark.parametrize(
    ("locale", "title", "step"),
    [
        ("en-US", "The record does not verify", "Run callboard check, then restore a backup."),
        ("zh-CN", "记录未通过验证", "请运行 callboard check，然后恢复备份。"),
    ],
)
def test_a_damaged_session_says_why_and_what_to_do_and_offers_no_composer(
    product: Product, browser: Browser, locale: str, title: str, step: str
) -> None:
    """S1: it is no lost connection, which would come back."""
    with product.plays({"calls": [says("Done.")]}).up() as (server, ready), desk(browser, ready["link"]) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Done.")
        address = tab.page.url.split("#", 1)[1]
        server.signal(signal.SIGINT)
        server.wait()
    with closing(sqlite3.connect(product.home / "store" / "callboard.db")) as store:
        store.execute(DAMAGE)
        store.commit()
    (product.home / "store" / "views.db").unlink()
    with product.up() as (_, ready), desk(browser, link_at(ready, address), locale=locale) as tab:
        told = tab.page.get_by_role("alert").filter(has_text=title)
        expect(told).to_contain_text(step)
        expect(tab.page.get_by_role("textbox")).to_have_count(0)
        tab.page.evaluate(AXE.read_text())
        found = tab.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [(one["id"], one["nodes"][0]["html"][:600]) for one in found["violations"]] == []
        told.get_by_role("button").filter(has_text="回到首页" if locale == "zh-CN" else "Back").click()
        expect(tab.page.get_by_role("textbox").last).to_be_enabled()
