"""Models that a person configured or can configure."""
