"""Storage of facts: the ports of `contracts.ports.store` and `contracts.ports.live`.

Modules:
    chain: Erasure and verification of the hash chain. Pure.
    batch: Validation, encoding and sealing of a batch. Pure.
    pieces: Combination of partial text. Pure.
    panels: Checks of stored rows, and selection of rows for a window. Pure.
    following: Subscriptions to a stream.
    memory: The store in memory, with `memory_rows`.
    sqlite: The store in SQLite.
    live: The live feed of one process.

Every backend passes the same test suite (`tests/log/suite`).
"""
