"""Artifacts: versions, saves and exports."""
