from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection.

    They live until the end. A full collection beside them takes half a second, and tests cause many.
    """
    gc.collect()
    gc.freeze()
