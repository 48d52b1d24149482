"""`make prove-secrets`."""
