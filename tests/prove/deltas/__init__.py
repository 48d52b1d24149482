"""`make prove-deltas`."""
