"""The command line: one file or folder per verb, and `terminal/` for what they share."""
