"""Threads: input, queue, interrupt, wake, resume and recovery."""
