"""Commands and tools of a team."""
