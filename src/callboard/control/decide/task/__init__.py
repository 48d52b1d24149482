"""Tasks: the board, attempts, links, pause, cancel and completion."""
