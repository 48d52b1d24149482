"""Settings, wiring, the serving process and the command line. Only this package chooses a store."""
