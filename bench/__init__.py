"""Benchmarks of Callboard, each beside a peer or a baseline in the same run: `make bench`, or `python -m bench --help`.

rows        one file per row of the table
peers       other systems running the same turn
board       Callboard in this process; `history` builds long sessions from it; `product` runs the real one in its own process
worker      a process that runs turns in one system
harness     sizes, rounds, folders; `results` the figures of a row; `machine` the hardware and versions
table       README.md and the terminal; `plots` the plots
"""
