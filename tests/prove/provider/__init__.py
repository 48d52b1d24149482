"""`make prove-provider`."""
