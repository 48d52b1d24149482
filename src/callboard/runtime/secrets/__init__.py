"""Secrets on their way in (redaction) and out (values in place of handles)."""
