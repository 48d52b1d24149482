"""Where it is put together: settings, wiring, the command line and the terminal workbench.

Only this package chooses a concrete store.
"""
