"""Golden stores: one for each stored layout that was ever written, which every later version must open.

    make        writes a store with the present code: `python -m tests.golden.make`
    scenario    the agents of that store and the answers of their model
    stores      unpacks a golden store and computes what it must still contain

A golden store is two files in `tests/golden/<version>/`: `home.tar.xz`, the state folder, and `expected.json`.
"""
