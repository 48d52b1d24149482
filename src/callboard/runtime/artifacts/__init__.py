"""Artifacts: reads, changes and exports."""
