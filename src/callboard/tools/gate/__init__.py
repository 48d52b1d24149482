"""The gate: the stations that every call of every agent passes."""
