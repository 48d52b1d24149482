"""Time until a real browser paints a session's conversation."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from bench.rigs.processes import PATIENCE
from bench.rigs.product import Product

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Reports milliseconds since the navigation, in a task after the frame with the first turn: that frame is painted.
_LOOK = """(() => {
  const look = () => {
    if (document.querySelector('[role=feed] article') === null) requestAnimationFrame(look)
    else requestAnimationFrame(() => setTimeout(() => { window.painted(performance.now()) }))
  }
  requestAnimationFrame(look)
})()"""


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser | None]:
    """Start the browser of this machine; yield None without one."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        yield None
        return
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        await browser.close()


async def painted(browser: Browser, running: Product, session: str) -> float:
    """Open a session by its link in a fresh profile; return the milliseconds until its turns are painted."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        page = await context.new_page()
        painted_at: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def report(at: float) -> None:
            painted_at.set_result(at)

        await page.expose_function("painted", report)
        await page.add_init_script(_LOOK)
        await page.goto(await running.page_link(f"/s/{session}"))
        async with asyncio.timeout(PATIENCE):
            return await painted_at
    finally:
        await context.close()
