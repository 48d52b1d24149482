"""Reads of sessions, tasks, jobs, tools and agent runs."""
