"""What the rooms need of each other, said once: each port has a real implementation in the room that owns it."""
