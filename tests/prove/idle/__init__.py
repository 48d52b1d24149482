"""`make prove-idle`."""
