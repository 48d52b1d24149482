"""`make prove-crash`."""
