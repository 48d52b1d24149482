"""The verbs about stored data: `check`, `backup`, `restore`."""

from __future__ import annotations

import typer

from . import backup, check, restore


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (check, backup, restore):
        verb.register(app)
