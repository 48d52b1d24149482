"""Fixtures for tests of models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.models.servers import Aimock, aimock


@pytest.fixture(scope="session")
def mock() -> Iterator[Aimock]:
    """Yield a third-party server of OpenAI's format."""
    with aimock() as running:
        yield running
