"""Hooks: programs of the person that run before the gate and can only restrict a call."""
