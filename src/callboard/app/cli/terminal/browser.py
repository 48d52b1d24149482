"""The page in a browser, where one would appear before the person who started this."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from callboard.contracts.settings import Settings


def may_open(settings: Settings) -> bool:
    """True where there is a display and the person did not say no."""
    if not settings.browser or not sys.stdout.isatty():
        return False
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_page(opener: str) -> None:
    """Open the page by a file that redirects to it: what opens the page must not be in a command line, which every user of
    the machine can read. It is opened beside everything else: some browsers keep their starter waiting. Without a file the
    printed address opens the page."""
    import webbrowser

    if opener:
        threading.Thread(target=webbrowser.open, args=(Path(opener).as_uri(),), daemon=True).start()
