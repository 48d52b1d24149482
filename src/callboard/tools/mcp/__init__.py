"""Tool servers that speak the Model Context Protocol.

Only `connection` and the modules that it imports need the protocol's package. It is large, so the
first connection imports it.
"""
