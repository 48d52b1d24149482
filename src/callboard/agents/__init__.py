"""Who takes part: definitions read from ``agents/*.md`` and the packaged presets of teams.

There is no roster in code; a file that cannot be read is reported and the others load.
"""
