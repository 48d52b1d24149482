"""A person at the workbench: the page in a real browser, found by its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Dialog, Locator, Page, expect

#: Longest wait for any expected event, in milliseconds.
PATIENCE = 60_000
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
expect.set_options(timeout=PATIENCE)


class PageDriver:
    """One tab. `troubles` are its console errors and the dialogs that it opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.troubles: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self.troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def composer(self) -> Locator:
        """The message field."""
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def status(self) -> Locator:
        """The status line."""
        return self.page.get_by_role("region", name="Status")

    @property
    def conversation(self) -> Locator:
        """The list of turns."""
        return self.page.get_by_role("feed")

    def button(self, name: str) -> Locator:
        """Return the button with this name."""
        return self.page.get_by_role("button", name=name)

    def send(self, text: str) -> None:
        """Type the text and press Enter."""
        self.composer.fill(text)
        self.composer.press("Enter")

    def list_violations(self) -> list[str]:
        """Return the accessibility violations that axe reports."""
        self.page.evaluate(AXE.read_text())
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [f"{rule['id']}: {rule['nodes'][0]['html'][:600]}" for rule in result["violations"]]


def build_link(ready: Mapping[str, Any], address: str) -> str:
    """Return the printed link with another address in the page."""
    return f"{ready['link'].rpartition('/w/')[0]}{address}"


@contextmanager
def open_page(browser: Browser, url: str, **options: Any) -> Iterator[PageDriver]:
    """Open the page at this address in a new profile."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-US", **options})
    try:
        page = context.new_page()
        tab = PageDriver(page)
        page.goto(url)
        yield tab
    finally:
        context.close()
