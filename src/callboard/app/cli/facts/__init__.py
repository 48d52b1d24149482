"""`callboard facts`."""
