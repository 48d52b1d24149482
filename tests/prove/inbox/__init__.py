"""`make prove-inbox`."""
