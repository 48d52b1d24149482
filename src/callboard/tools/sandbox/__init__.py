"""The sandbox of commands: detection, command line, guard, limits and output."""
