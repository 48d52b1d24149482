"""The workbench page in the person's browser."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from callboard.contracts.settings import Settings


def can_open(settings: Settings) -> bool:
    """Return True if the settings allow a browser and there is a display."""
    if not settings.browser or not sys.stdout.isatty():
        return False
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_page(opener: str) -> None:
    """Open the page through a file that redirects to it.

    Every user of the machine can read command lines, so the address itself must not be in one. A thread opens the file, because
    some browsers keep their starter waiting. Without a file, only the printed address opens the page.
    """
    import webbrowser

    if opener:
        threading.Thread(target=webbrowser.open, args=(Path(opener).as_uri(),), daemon=True).start()
