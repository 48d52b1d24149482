"""Rows of what agents send each other."""
