"""Client of a running Callboard: commands, reads and streams over HTTP."""
