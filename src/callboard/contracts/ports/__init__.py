"""Ports: interfaces between packages. The package that owns a port implements it."""
