from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.http.rigs.server import Board, serving


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    """A Callboard that serves, on a folder of its own."""
    async with serving(tmp_path) as running:
        yield running
