"""`make prove-fsync`."""
