"""Facts, commands, rows and ports, which all other packages share.

Pure: no clock, no randomness, no I/O.
"""
