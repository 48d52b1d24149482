"""JSON Schema and TypeScript generated from the contracts."""
