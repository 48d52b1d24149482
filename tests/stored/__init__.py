"""Stored data: derived data that does not fit is discarded, and facts stay readable."""
