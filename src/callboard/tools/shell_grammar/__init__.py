"""Grammar of shell commands, the programs that they start, and the texts that rules compare."""
