"""The state that deciders read: open entities only, so its size does not grow with the session."""
