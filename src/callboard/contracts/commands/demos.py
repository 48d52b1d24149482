"""The command that plays a demo."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import Command, Declaration
from .turns import TurnAccepted


class StartDemo(Command, frozen=True, kw_only=True):
    """Set a demo's folder out, open it as a workspace, and give the demo's objective to its team in a new session."""

    name: Annotated[str, Meta(min_length=1, max_length=64, description="As the server's `demos` name it.")]


DEMO_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="start_demo",
        command=StartDemo,
        answer=TurnAccepted,
        serial="store",
        summary="Play a demo: a real run in a folder of its own, with a script in place of the model.",
    ),
)
