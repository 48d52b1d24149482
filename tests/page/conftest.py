from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.app.rigs.product import Product

CHROMIUM = "/usr/bin/chromium"
#: What Playwright disables, since Chromium reads the last such argument only, and the two pages that each window of Chromium
#: draws for suggestions under its address bar: a renderer for them is a third of what opening a page of ours takes.
DISABLED = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *(
        "HttpsFirstBalancedModeAutoEnable",
        "LensOverlay",
        "MediaRouter",
        "PaintHolding",
        "ThirdPartyStoragePartitioning",
    ),
    *(
        "AvoidCorsURLLoaderRestartOnRedirect",
        "TcpPortRandomizationWin",
        "OptimizationHints",
        "NetworkTimeServiceQuerying",
    ),
    *("AimEnabled", "PreconnectToSearch"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
)
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    f"--disable-features={','.join(DISABLED)}",
)


# Of this package: while it lasts this thread has a running event loop, in which no other test could run its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path)
