"""The serving process: finding, starting and stopping it."""
