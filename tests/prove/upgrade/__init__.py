"""`make prove-upgrade`."""
