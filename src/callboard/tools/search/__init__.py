"""Search of a folder in a separate process.

A regular expression can run endlessly, and code in the same process cannot stop it. The search
process ends at its deadline, when the call is cancelled, and when its host ends. It imports only
the standard library and a few small modules, so it starts in tens of milliseconds.
"""
