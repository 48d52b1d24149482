from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.rigs.product import Product


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path)
