"""The runtime: sessions and workspaces that decide commands, run their effects and keep their
views.

Read `runtime.py` first, then `commands.py`, `sessions/host.py` and `turns/effect_runner.py`.
"""
