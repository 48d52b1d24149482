"""A process with its store, for a test to kill or to shut out: `python -m tests.log.child MODE FOLDER`.

`write` has eight authors append for ever and prints `stream sequence key` for each acknowledgement; `hold` opens the store
and prints its epoch. Both print `ready EPOCH` first, and end when their standard input closes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from callboard.contracts.live import build_partial_key
from callboard.log.sqlite import SqliteStore, open_store
from tests.prove.driver.sabotages import plant

from .samples import SCOPE, batch, frame, long_text_fact, text_fact


async def author(store: SqliteStore, stream: str) -> None:
    """Append batches of different sizes with partials, blobs and answers, and print each acknowledgement."""
    end = (await store.facts.read_head(stream)).sequence
    key_of_part = build_partial_key("text", SCOPE)
    for partial in await store.partials.read(stream):
        assert partial.text == "so far"
        end = (
            await store.facts.append(
                batch(end, text_fact("cut"), stream=stream, epoch=store.epoch, ends=(key_of_part,))
            )
        )[-1].sequence
    while True:
        await store.partials.write(stream, store.epoch, [frame("so far")])
        long, blobs = long_text_fact(f"{stream} {end} " * 1000)
        facts = [long, *(text_fact(f"{stream} {end} {each}") for each in range(end % 4))]
        key = f"{stream}-{end}-{store.epoch}"
        next_batch = batch(end, *facts, stream=stream, epoch=store.epoch, key=key, blobs=blobs, ends=(key_of_part,))
        end = (await store.facts.append(next_batch))[-1].sequence
        print(stream, end, key, flush=True)


async def main(mode: str, folder: str) -> None:
    if fault := os.environ.get("PLANTED"):
        plant(fault)
    store = open_store(Path(folder))
    print("ready", store.epoch, flush=True)
    authors = [asyncio.create_task(author(store, f"ses_{number}")) for number in range(8)] if mode == "write" else []
    closed = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    await asyncio.wait([closed, *authors], return_when=asyncio.FIRST_COMPLETED)
    for each in authors:
        each.cancel()
    await asyncio.gather(*authors, return_exceptions=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
