"""A session that cannot be read, in a browser: the reason and the next step."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import msgspec
import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product, says

from .page_driver import build_link, open_page

pytestmark = pytest.mark.browser

DAMAGE = """
UPDATE facts SET payload = zeroblob(3)
WHERE sequence = 2 AND stream = (SELECT number FROM streams WHERE name LIKE 'ses_%')
"""
#: A later version of the product, in which the fact that ends a turn has another shape.
NEWER = """
import sys
from callboard.app.cli.main import main
from callboard.contracts.facts.turn import TurnCompleted
TurnCompleted.schema_version += 1
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("locale", "title", "step"),
    [
        ("en-US", "Log verification failed", "Run callboard check, then restore a backup."),
        ("zh-CN", "日志验证失败", "请运行 callboard check，然后恢复备份。"),
    ],
)
def test_a_damaged_session_shows_the_reason_and_the_next_step_without_a_composer(
    product: Product, browser: Browser, locale: str, title: str, step: str
) -> None:
    """S1: the page does not report a lost connection, which would return."""
    with product.plays({"calls": [says("Done.")]}).up() as (server, ready), open_page(browser, ready["link"]) as tab:
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Done.")
        address = tab.page.url.split("#", 1)[1]
        server.signal(signal.SIGINT)
        server.wait()
    with closing(sqlite3.connect(product.home / "store" / "callboard.db")) as store:
        store.execute(DAMAGE)
        store.commit()
    (product.home / "store" / "views.db").unlink()
    with product.up() as (_, ready), open_page(browser, build_link(ready, address), locale=locale) as tab:
        alert = tab.page.get_by_role("alert").filter(has_text=title)
        expect(alert).to_contain_text(step)
        expect(tab.page.get_by_role("textbox")).to_have_count(0)
        assert tab.list_violations() == []
        alert.get_by_role("button").filter(has_text="转到主页" if locale == "zh-CN" else "Go to home").click()
        expect(tab.page.get_by_role("textbox").last).to_be_enabled()


@pytest.mark.parametrize(
    ("locale", "says_so", "unknown"),
    [
        ("en-US", "Written by a newer version of Callboard. Update to continue.", "Status unknown"),
        ("zh-CN", "由较新版本的 Callboard 写入。请更新后继续。", "状态未知"),
    ],
)
def test_a_session_of_a_newer_version_is_shown_without_commands_that_would_be_refused(
    product: Product, browser: Browser, locale: str, says_so: str, unknown: str
) -> None:
    """S2: an unreadable fact may have ended the turn, so the page does not show it as running."""
    product.plays({"calls": [says("Done.")]})
    newer = subprocess.run(
        [sys.executable, "-c", NEWER, "run", "Hello", "--json"],
        cwd=product.folder,
        env=product.environment(),
        capture_output=True,
        check=True,
    )
    session = msgspec.json.decode(newer.stdout.splitlines()[0])["sessionId"]
    (product.home / "store" / "views.db").unlink()
    with product.up() as (_, ready), open_page(browser, build_link(ready, f"/s/{session}"), locale=locale) as tab:
        expect(tab.page.get_by_placeholder(says_so)).to_be_disabled()
        expect(tab.page.get_by_role("feed")).to_contain_text("Done.")
        expect(tab.page.get_by_role("feed")).to_contain_text("turn.completed")
        expect(tab.page.get_by_text(unknown)).to_be_visible()
        expect(tab.page.get_by_role("button", name="Interrupt").or_(tab.page.get_by_text("中断"))).to_have_count(0)
        assert tab.list_violations() == []
