"""Built-in tools and their declarations."""
