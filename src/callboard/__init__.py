"""Event-sourced runtime, control plane and workbench for teams of AI agents.

Each package imports packages to its right only::

    app -> adapters -> runtime -> control | projection | log | agents | models | tools | secrets | evidence -> contracts
    app -> client -> contracts

`docs/architecture.md` describes the packages.
"""

__version__ = "0.1.0"
