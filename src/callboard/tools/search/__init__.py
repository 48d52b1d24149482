"""Search of a folder in a separate process.

A regular expression can run without end, and no code in the same process could stop it. The process
ends at its deadline, when the call is cancelled, and when its host ends. It imports only the
standard library and a few small modules, so it starts within some tens of milliseconds.
"""
