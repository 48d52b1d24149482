"""Golden stores: one for each stored layout so far. Every later version must open them.

make      writes a store with this version: `python -m tests.golden.make`
scenario  the agents of that store and the answers of their model
stores    unpacks a golden store and computes its expected content

A golden store is two files in `tests/golden/<version>/`: `home.tar.xz`, the state folder, and
`expected.json`.
"""
