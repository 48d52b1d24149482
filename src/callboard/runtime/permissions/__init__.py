"""Trust, rules and the preview of permissions."""
