"""Artifacts: reads, saves and exports."""
