"""Reads gauge readings, fills short gaps and finds the hours above a warning level."""
