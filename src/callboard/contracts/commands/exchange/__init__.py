"""Commands and tools of what agents send each other."""
