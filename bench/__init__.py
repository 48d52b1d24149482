"""Benchmarks of Callboard, each compared with a peer or a baseline of the same run.

Start them with `make bench`, or see `python -m bench --help`.

rows        one module per row of the table
workers     programs that rows start as processes
rigs        Callboard in the process (`board`) or as a process (`product`), and its sessions
peers       other systems that run the same turn
callers     model clients that send the same conversation
harness     sizes, rounds and folders of rows
results     figures of rows; `table` and `plots` render them
machine     hardware, versions and disk syncs
"""
