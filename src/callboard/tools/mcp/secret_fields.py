"""Detection of form fields that ask for a secret, which MCP forbids."""

from __future__ import annotations

import re
from typing import Any, cast

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Words that end the name of a secret.
_SECRETS = frozenset(
    """password passwd pwd passphrase passcode secret token credential credentials apikey otp totp cvv cvc
    kennwort passwort contraseña motdepasse 密码 口令""".split()
)
_PAIRS = frozenset(
    """api key|access key|private key|secret key|signing key|encryption key|ssh key|recovery key|card number
    credit card|recovery phrase|seed phrase|security code|verification code|session cookie|pin code""".replace(
        "\n", "|"
    ).split("|")
)
#: Words that may follow the name without changing its meaning.
_SUFFIXES = frozenset("again confirm confirmation repeat repeated value string text new old current".split())


def list_secret_fields(schema: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of form fields that ask for a secret, by format, name or title.

    Example:
        list_secret_fields({"properties": {"apiKey": {"type": "string"}}}) == ("apiKey",)
    """
    properties = schema.get("properties")
    fields = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    return tuple(name for name, field in fields.items() if _is_secret(name, field))


def _is_secret(name: str, field: Any) -> bool:
    schema = cast("dict[str, Any]", field) if isinstance(field, dict) else {}
    if schema.get("type") in ("boolean", "array") or "enum" in schema or "oneOf" in schema:
        return False
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        return True
    return any(_is_secret_name(text) for text in (name, schema.get("title")) if isinstance(text, str))


def _is_secret_name(text: str) -> bool:
    words = [piece.lower() for piece in _PIECE.findall(text)]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    joined = "".join(text.split()).lower()
    if any(joined.endswith(word) for word in _SECRETS if not word.isascii()):
        return True
    return bool(words) and (words[-1] in _SECRETS or " ".join(words[-2:]) in _PAIRS)
