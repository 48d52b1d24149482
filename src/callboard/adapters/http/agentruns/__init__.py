"""The HTTP contract of the Multi-agent runtime specification, and the interrupt of the Communication specification.

It stands behind the same guard and refuses in the same form as every other route; what differs is its casing, which is that
specification's own, and its words, which are mapped here and nowhere else.

    queries     what is asked for, as Structs
    words       a refusal's fields in this casing
    contexts    a run's context, whole or compact
    tree        the files of a folder, confined and bounded
    settings    what holds in a folder, and what of it can be changed
    routes      the routes
    document    the same routes as OpenAPI
"""

from __future__ import annotations

from .document import agent_run_paths, agent_run_structs
from .routes import agent_run_routes

__all__ = ["agent_run_paths", "agent_run_routes", "agent_run_structs"]
