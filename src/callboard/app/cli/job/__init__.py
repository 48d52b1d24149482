"""`callboard job`."""
