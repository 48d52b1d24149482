"""`make prove-cancel`."""
