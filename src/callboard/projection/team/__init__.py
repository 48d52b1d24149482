"""The panels of a team. They are empty while a session has one agent and no task."""
