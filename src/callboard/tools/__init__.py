"""Tools, and the gate that every call of every agent in every mode passes."""
