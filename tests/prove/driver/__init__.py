"""Shared parts of proofs: the product as a process, clients, checks, reports and sabotages."""
