"""`make prove-origin`."""
