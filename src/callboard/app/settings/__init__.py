"""Settings: files, environment and options, with the problems found in them."""
