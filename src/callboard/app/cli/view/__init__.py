"""`callboard view`."""
