"""Facts of what agents send each other."""
