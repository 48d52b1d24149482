"""Fields of a form that ask for a secret (X10)."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.tools.mcp.secret_fields import list_secret_fields

TEXT: dict[str, Any] = {"type": "string"}
SECRET: list[tuple[str, dict[str, Any]]] = [
    ("password", TEXT),
    ("db_password", TEXT),
    ("confirmPassword", TEXT),
    ("password_again", TEXT),
    ("apiKey", TEXT),
    ("API_KEY", TEXT),
    ("OPENAI_API_KEY", TEXT),
    ("github-token", TEXT),
    ("clientSecret", TEXT),
    ("key", {**TEXT, "title": "Private key"}),
    ("value", {**TEXT, "format": "password"}),
    ("value", {**TEXT, "writeOnly": True}),
    ("q1", {**TEXT, "title": "Your passphrase"}),
    ("q2", {**TEXT, "title": "数据库密码"}),
    ("card_number", {"type": "integer"}),
    ("cvc", {"type": "string", "minLength": 3}),
    ("code", {**TEXT, "title": "Verification code"}),
]
ORDINARY: list[tuple[str, dict[str, Any]]] = [
    ("city", TEXT),
    ("max_tokens", {"type": "integer"}),
    ("token_count", {"type": "integer"}),
    ("secretary", TEXT),
    ("secret_name", TEXT),
    ("keyboard", TEXT),
    ("key", TEXT),
    ("primary_key", TEXT),
    ("use_password", {"type": "boolean"}),
    ("token", {"type": "string", "enum": ["ETH", "BTC"]}),
    ("password_policy", {"type": "string"}),
    ("description", {**TEXT, "description": "No password, please."}),
]


@pytest.mark.parametrize(("name", "field"), SECRET)
def test_x10_secret_fields_are_detected(name: str, field: dict[str, Any]) -> None:
    assert list_secret_fields({"type": "object", "properties": {"city": TEXT, name: field}}) == (name,)


@pytest.mark.parametrize(("name", "field"), ORDINARY)
def test_x10_ordinary_fields_are_not_secret(name: str, field: dict[str, Any]) -> None:
    assert list_secret_fields({"type": "object", "properties": {name: field}}) == ()


@pytest.mark.parametrize("schema", [{}, {"properties": None}, {"properties": {"a": None}}])
def test_x10_a_form_without_fields_has_no_secret(schema: dict[str, Any]) -> None:
    assert list_secret_fields(schema) == ()
