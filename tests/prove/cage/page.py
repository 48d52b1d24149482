"""Attempts as a person sees them: the page in a real browser, with every fold open."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

CHROMIUM = "/usr/bin/chromium"
#: A window that shows a whole session.
_VIEW: ViewportSize = {"width": 1280, "height": 9000}
_PATIENCE_S = 30.0


@asynccontextmanager
async def browser() -> AsyncGenerator[Browser]:
    """Start a browser of the machine."""
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield running
        finally:
            await running.close()


async def card(running: Browser, link: str) -> str:
    """Return the text of the open request's card, with nothing unfolded."""
    context = await running.new_context(viewport=_VIEW, locale="en-US")
    try:
        page = await context.new_page()
        await page.goto(link)
        pending_card = page.locator("#pending-action")
        await pending_card.get_by_role("group").first.wait_for(timeout=_PATIENCE_S * 1000)
        return await pending_card.inner_text()
    finally:
        await context.close()


async def turns(running: Browser, link: str, words: list[str]) -> dict[str, str]:
    """Return the text under each turn whose input begins with one of the words, when all turns are
    there.
    """
    context = await running.new_context(viewport=_VIEW, locale="en-US")
    try:
        page = await context.new_page()
        await page.goto(link)
        until = time.monotonic() + _PATIENCE_S
        texts: dict[str, str] = {}
        while time.monotonic() < until:
            await _open_all(page)
            texts = _by_turn(await _articles(page), words)
            if set(texts) == set(words):
                break
            await page.wait_for_timeout(100)
        # Wait until the page drew the last fold.
        await _open_all(page)
        await page.wait_for_timeout(300)
        return _by_turn(await _articles(page), words)
    finally:
        await context.close()


async def _open_all(page: Page) -> None:
    """Open every turn's summary. An open one stays open."""
    await page.evaluate(
        """() => {
          const closed = '[role=feed] [data-kind=summary] [aria-expanded=false]'
          for (const one of document.querySelectorAll(closed)) one.click()
        }"""
    )


async def _articles(page: Page) -> list[tuple[int, str]]:
    sections: list[tuple[int, str]] = await page.evaluate(
        """() => {
          const all = [...document.querySelectorAll('[role=feed] [data-index]')]
          return all.map(one => [Number(one.dataset.index), one.innerText])
        }"""
    )
    return sorted(sections)


def _by_turn(articles: list[tuple[int, str]], words: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    now = ""
    for _, text in articles:
        body = text.removeprefix("You").strip()
        begins = next((word for word in words if body.startswith(f"{word} ")), "")
        if begins:
            now = begins
        if now:
            texts[now] = f"{texts.get(now, '')}\n{text}"
    return texts
