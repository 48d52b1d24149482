"""`make prove-cage`."""
