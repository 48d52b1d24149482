"""`make prove-first`."""
