"""Where facts live, behind the ports of `contracts.ports.store` and `contracts.ports.live`.

    chain        what is erased from a chain, and how one is checked; pure
    batch        what every backend checks, seals and remembers of a batch; pure
    pieces       pieces of parts in the making, gathered; pure
    panels       which row operations are kept, and which rows fit a window; pure
    salts        fresh randomness for the chain
    following    subscriptions: cursors that are woken
    memory       the store in memory, with memory_rows
    sqlite/      the store in SQLite
    live         the live feed within one process

Every backend passes the same suite (`tests/log/suite`).
"""
