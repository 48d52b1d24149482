"""A package, so that one browser lasts for all of its tests."""
