"""The page in a browser, where one would appear before the person who started this."""

from __future__ import annotations

import os
import sys
import threading

from callboard.contracts.settings import Settings


def may_open(settings: Settings) -> bool:
    """True where there is a display and the person did not say no."""
    if not settings.browser or not sys.stdout.isatty():
        return False
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_page(link: str) -> None:
    """Opens the page beside everything else: some browsers keep their starter waiting."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
