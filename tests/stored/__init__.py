"""Stored data: what is derived is discarded where it does not fit, and what is true stays readable."""
