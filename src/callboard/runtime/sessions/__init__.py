"""Open sessions: the host of one, and the inputs of its decisions."""
