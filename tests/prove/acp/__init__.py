"""`make prove-acp`."""
