"""`make prove-mcp`."""
