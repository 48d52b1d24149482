from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.http.agentruns.crew import crew
from tests.adapters.http.rigs.server import Board


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Board]:
    """Provide a Callboard on a folder with a lead, a second main agent and workers."""
    async with crew(tmp_path / "work") as board:
        yield board
