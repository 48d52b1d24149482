"""Trust, rules and permission previews."""
