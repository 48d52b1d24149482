"""Demos of the first page in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app.rigs.product import Product

from .page_driver import open_page

pytestmark = pytest.mark.browser


def test_a_demo_of_the_first_page_runs_in_its_own_folder(product: Product, browser: Browser) -> None:
    product.variables["CALLBOARD_DEMO_PACE"] = "0"
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        tab.button("One agent fixes a failing test").click()
        expect(tab.page.get_by_role("region", name="Pending request")).to_contain_text("python3 -m unittest")
        tab.button("Approve").click()
        expect(tab.conversation).to_contain_text("treated accented letters as separators")
        assert "unicodedata" in (Path(f"{product.home}-demos") / "solo_run-1" / "slugs.py").read_text()
        assert tab.troubles == []
