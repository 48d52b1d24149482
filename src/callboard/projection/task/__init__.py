"""Panels of tasks and jobs."""
