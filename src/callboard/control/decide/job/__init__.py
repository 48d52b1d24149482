"""Jobs and the workers of their items."""
