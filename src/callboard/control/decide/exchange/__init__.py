"""Exchange between agents: handoffs, messages and reviews."""
