"""HTTP contract of the Multi-agent runtime specification, and the interrupt of the Communication specification.

The routes have the same guard and the same problems as all others. Only names and casing differ: they are those of the
specification, and only this package maps them.
"""

from __future__ import annotations

from .document import build_agent_run_paths, list_agent_run_structs
from .routes import build_agent_run_routes

__all__ = ["build_agent_run_paths", "build_agent_run_routes", "list_agent_run_structs"]
