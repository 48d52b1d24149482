"""The gate, which decides on every call of every agent."""
