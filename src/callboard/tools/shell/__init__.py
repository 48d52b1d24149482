"""Shell commands in the foreground and in the background."""
