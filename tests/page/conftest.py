from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.app.product import Product

CHROMIUM = "/usr/bin/chromium"


# Of one module: while it lasts this thread has a running event loop, in which no other test could run its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield running
        running.close()


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path)
