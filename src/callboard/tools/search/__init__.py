"""Searching a folder, in a process of its own.

A regular expression can take for ever, and nothing in the same process could stop it. The process is ended when its
time is over, when the call is cancelled, and by itself when its host is gone. It imports nothing beyond the standard
library and a few files of this room, so that it starts within some tens of milliseconds.

ignore   what .gitignore files leave out
walk     the files of a folder, in the order of their paths
literals text that every match of a pattern contains
find     Glob and Grep over such a walk
child    the process: a request comes in, an answer goes out
asking   the host's side
"""
