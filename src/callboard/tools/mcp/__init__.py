"""Tool servers that speak the Model Context Protocol.

Only `connection`, `stdio_transport`, `http_transport`, `call_results`, `resources`, `failures` and
`questions` import the protocol's package. It is large, so the first connection imports it.
"""
