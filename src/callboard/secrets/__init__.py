"""Secrets: the keyring, the forms and shapes that redaction finds, and handles."""
