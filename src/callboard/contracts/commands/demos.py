"""The command that plays a demo."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import Command, command
from .turns import TurnAccepted


@command("start_demo", TurnAccepted, serial="store")
class StartDemo(Command, frozen=True, kw_only=True):
    """Play a demo: a real run in a new folder, with a script in place of the model.

    The folder becomes a workspace. The team receives the demo's objective in a new session.
    """

    name: Annotated[str, Meta(min_length=1, max_length=64, description="As the server's `demos` name it.")]
