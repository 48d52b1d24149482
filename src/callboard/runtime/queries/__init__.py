"""Queries: reads from rows and facts."""
