"""What is decided: ``decide``, ``evolve`` and ``effects``, one file a family.

Pure: no clock, no ids, no randomness and no I/O. All of those come in with the command.
"""
