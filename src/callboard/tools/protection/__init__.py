"""Protection of files that decide what agents may do, or that other programs obey."""
