"""`make prove-team`."""
