"""`make prove-evidence`."""
