"""Holding a shell in.

ability      what this machine really has: tried once, at run time
seccomp      the system calls that no command of an agent needs
bubblewrap   the command line of bubblewrap for one call
keeping      protected names kept read-only, those that are not there yet included
guard        the process between the host and the command: it ends the whole tree when the host lets go
limits       what a command may take, and what keeps it to that
output       what a command prints: its head and its tail
background   a command that goes on behind its call
running      the host's side: starts the guard, takes the output, ends it in time
"""
