"""Programs that rows start as processes."""
