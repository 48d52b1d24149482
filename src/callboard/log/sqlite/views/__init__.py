"""The derived data in `views.db`: rows, view states, snapshots and conversations."""
