from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.http.rigs.server import Board, serving


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    """Provide a serving Callboard on a temporary folder."""
    async with serving(tmp_path) as running:
        yield running
