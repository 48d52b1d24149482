"""Benchmarks of Callboard, each beside a peer or a baseline in the same run: `make bench`, or `python -m bench --help`.

rows        one file a row of the table
peers       other systems doing the same turn
board       Callboard in this process; `history` makes long sessions of it; `product` is the real one in a process of its own
worker      a process that takes turns in one system
harness     sizes, rounds, folders; `results` what a row comes to; `machine` what it ran on
table       README.md and the terminal; `plots` the pictures
"""
