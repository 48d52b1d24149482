from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.models.servers import Aimock, aimock


@pytest.fixture(scope="session")
def mock() -> Iterator[Aimock]:
    """A server of OpenAI's format that we did not write."""
    with aimock() as running:
        yield running
