"""Texts of others: exact display, sentences and the redactor that quotes pass."""
