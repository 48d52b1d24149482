"""Texts of others: exact display, sentences and redaction of quotes."""
