"""The fold of facts about what agents send each other."""
