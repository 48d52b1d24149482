"""Faults under the log: lost power, a failing disk and a full disk.

preload.c  a library under the product that counts, records, fails or ends its writes and syncs, and moves its clock
library    compiles it, and is the proof's hand on it
mixed      the run that is disturbed: turns, tools, approvals, an upload, a job
trace      the files as a power loss would leave them, out of what was written and synced
power      what such files still contain
disk       what the product does and advises when its disk fails or is full
clocks     what the product does when the clock jumps
"""
