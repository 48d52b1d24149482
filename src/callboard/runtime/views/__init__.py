"""Panels of sessions, kept up to date behind the log, and the rings that clients follow."""
