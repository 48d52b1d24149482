"""`make prove-input`."""
