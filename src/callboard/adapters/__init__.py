"""Adapters to other systems: HTTP, JSON-RPC, A2A, ACP and imports. No adapter imports another."""
