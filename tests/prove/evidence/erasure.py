"""Erasure of facts in a store that no other process writes.

`python -m tests.prove.evidence.erasure STORE SESSION SEQUENCE... [--fault FAULT]` runs the
product's code in its own process, like `sabotages`.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from callboard.log.sqlite.store import open_store
from tests.prove.driver.sabotages import plant


async def erase(folder: Path, session: str, sequences: list[int]) -> None:
    """Erase the payloads of these facts."""
    store = open_store(folder)
    try:
        for sequence in sequences:
            await store.facts.erase(session, sequence)
    finally:
        await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("session")
    parser.add_argument("sequences", type=int, nargs="+")
    parser.add_argument("--fault", default="")
    options = parser.parse_args()
    if options.fault:
        plant(options.fault)
    asyncio.run(erase(options.store, options.session, options.sequences))
