"""Faults below the log: lost power, a failing disk and a full disk.

preload.c  a library below the product that counts, records, fails or ends its writes and syncs, and
           moves its clock
library    compiles and controls it
mixed      the disturbed run: turns, tools, approvals, an upload, a job
trace      the files after a power loss, from what was written and synced
power      what such files still contain
disk       the product's behaviour and advice when its disk fails or is full
clocks     the product's behaviour when the clock jumps
"""
