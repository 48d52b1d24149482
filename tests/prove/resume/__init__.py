"""`make prove-resume`."""
