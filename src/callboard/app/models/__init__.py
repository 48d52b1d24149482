"""Models that a user configured or can configure."""
