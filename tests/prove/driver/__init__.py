"""What proofs share: the product as a process, clients, checks, reports and sabotages."""
