"""How others speak to it: HTTP, JSON-RPC, AG-UI and further protocols. None imports another."""
