"""Events of the Agent UI specification."""
