"""The process that writes the store."""
