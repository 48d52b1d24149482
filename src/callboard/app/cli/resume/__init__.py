"""`callboard resume`."""
