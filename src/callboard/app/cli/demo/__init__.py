"""`callboard demo`."""
