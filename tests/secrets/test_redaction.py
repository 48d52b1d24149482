"""Redaction of values in every form, and the reverse."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from callboard.contracts.errors import Refusal
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction

PLAIN = "q8w7e6r5t4y3u2i1o0"
HARD = "Ab3$x/+\"quote'é_Zz9\\-end"
KEY = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(letter * 8 + "Q1w2E3r4" * 7 for letter in "abc") + "\nxyz=\n"
SK = "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90"


def make_redaction(*keys: str) -> Redaction:
    return Redaction(
        [
            NamedSecret("plain", PLAIN, "keyring"),
            NamedSecret("hard", HARD, "environment"),
            NamedSecret("pem", KEY, "keyring"),
        ],
        keys,
    )


def encode_in_forms(value: str) -> dict[str, str]:
    data = value.encode()
    return {
        "itself": value,
        "json": json.dumps({"a": value}),
        "json in unicode": json.dumps({"a": value}, ensure_ascii=False),
        "json in json": json.dumps({"a": json.dumps({"b": value})}),
        "url": "https://host/?q=" + quote(value, safe=""),
        "form": "a=1&b=" + quote_plus(value),
        "hex": data.hex(),
        "upper hex": data.hex().upper(),
        **{f"base64 behind {n}": base64.b64encode(b"x" * n + data + b"yy").decode() for n in range(3)},
        **{f"url-safe base64 behind {n}": base64.urlsafe_b64encode(b"x" * n + data).decode() for n in range(3)},
        "base64 in lines": base64.encodebytes(b"head" * 12 + data).decode(),
        "over two lines": f"{value[:7]}\n    {value[7:]}",
    }


@pytest.mark.parametrize("value", [PLAIN, HARD])
@pytest.mark.parametrize("form", list(encode_in_forms(PLAIN)))
def test_a_stored_value_is_redacted_in_every_form_and_can_be_revealed(value: str, form: str):
    """SAFE-03"""
    secrets, text = make_redaction(), f"before {encode_in_forms(value)[form]} behind"

    redacted = secrets.redact(text)

    assert "secret://" in redacted
    for shape in encode_in_forms(value).values():
        assert shape[2:-2] not in redacted
    assert secrets.reveal(redacted) == text
    assert secrets.redact(redacted) == redacted


def test_each_line_and_each_half_of_a_value_is_a_secret():
    """SAFE-03: listings show single lines, and truncated output shows the beginning of a value."""
    secrets = make_redaction()
    line = KEY.splitlines()[2]

    assert secrets.redact(f"     3\t{line}\n") == "     3\tsecret://pem#line-3\n"
    assert secrets.reveal("secret://pem#line-3") == line
    assert secrets.redact(HARD[: len(HARD) // 2] + "…").startswith("secret://hard#half-1")


def test_text_that_could_continue_a_handle_is_separated():
    """SAFE-03"""
    secrets = make_redaction()

    assert secrets.redact(f"{PLAIN}.") == "secret://plain."
    assert secrets.redact(f"{PLAIN}s and {PLAIN}-x {PLAIN}#a {PLAIN}~") == (
        "secret://plain~s and secret://plain~-x secret://plain~#a secret://plain~~"
    )
    for text in (f"{PLAIN}.", f"{PLAIN}s", f"{PLAIN}~", f"{PLAIN}~s", f"{PLAIN}{PLAIN}", f"'{PLAIN}';{HARD}"):
        assert secrets.reveal(secrets.redact(text)) == text


def test_a_handle_is_separated_from_the_handle_of_a_token():
    """SAFE-03"""
    secrets = Redaction([NamedSecret("one", PLAIN, "keyring"), NamedSecret("two", "$a9B8c7d6e5", "keyring")])

    assert secrets.redact(f"{PLAIN}$a9B8c7d6e5") == "secret://one~secret://two"


SHAPES = {
    SK: "sk-",
    "ghp_" + "a1B2c3D4e5" * 4: "ghp_",
    "github_pat_" + "11ABCDEFG0_abcdefghij0123456789": "github_pat_",
    "glpat-" + "x1y2z3x1y2z3x1y2z3x1": "glpat-",
    "xoxb-" + "123456789012-abcdefABCDEF": "xoxb-",
    "AKIA" + "IOSFODNN7EXAMPLE": "AKIA",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuv": "AIza",
    "npm_" + "a1B2c3D4e5F6" * 3: "npm_",
    "hf_" + "abcdefghijABCDEFGHIJabcdefghij1234": "hf_",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl": "eyJ",
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc": "sk_live_",
    "https://bob:hunter22x@host/x": "https://bob:",
    "https://host/x?a=1&access_token=abc12345xyz&b": "https://host/x?a=1&access_token=",
    "Authorization: Bearer abcdef0123456789xyz": "Authorization: Bearer ",
    '{"authorization": "Basic dXNlcjpwYXNzd29yZDE="}': '{"authorization": "Basic ',
}


@pytest.mark.parametrize("token", list(SHAPES))
def test_a_token_by_shape_has_a_handle_that_this_process_can_reveal(token: str):
    """SAFE-03"""
    secrets, text = Redaction(), f"a {token} b"

    redacted = secrets.redact(text)

    assert redacted.startswith(f"a {SHAPES[token]}secret://seen-")
    assert secrets.reveal(redacted) == text
    assert secrets.redact(redacted) == redacted
    with pytest.raises(Refusal, match="a process that has ended") as refused:
        Redaction().reveal(redacted)
    assert refused.value.code == "secret_missing"


def test_a_pem_key_is_redacted_in_listings_and_with_escapes():
    """SAFE-03"""
    body = "\n".join("MIIEvQ" + letter * 50 + "Zz9+/=" for letter in "abcdef") + "\nQ1w2=="
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"
    listed = "\n".join(f"{number:6d}→{line}" for number, line in enumerate(pem.splitlines(), 1))

    for text in (pem, listed, json.dumps(pem)):
        secrets = Redaction()
        redacted = secrets.redact(text)
        assert "MIIEvQ" not in redacted
        assert "Q1w2==" not in redacted
        assert "-----END RSA PRIVATE KEY-----" in redacted
        assert secrets.reveal(redacted) == text


@pytest.mark.parametrize(
    "text",
    [
        "scikit-learn's sk-learn-something-nice and task-1234567890123456789012",
        "https://host:8080/path?page=2&token=short http://localhost:4747 mailto:me@host",
        "https://user:$PASSWORD@host https://user:${PASSWORD}@host ?token=<your-token-1>",
        "-----BEGIN PRIVATE KEY----- is how a key begins, and -----BEGIN CERTIFICATE----- a certificate.",
        "commit 4f1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c, ses_0B2k3jH4mKq8xY7zW1vTsR",
        "Authorization: Bearer of good news",
    ],
)
def test_text_that_only_resembles_a_token_is_unchanged(text: str):
    """SAFE-03"""
    assert Redaction().redact(text) == text


def test_a_detected_value_is_redacted_without_its_mark():
    """SAFE-03"""
    secrets = Redaction()
    handle = secrets.redact("https://bob:hunter22x@host/").removeprefix("https://bob:").removesuffix("@host/")

    assert secrets.redact("the password is hunter22x") == f"the password is {handle}"
    assert secrets.redact(base64.b64encode(b"hunter22x").decode()).startswith(f"{handle}#base64-0")


def test_secrets_in_binary_data_are_redacted():
    """SAFE-03"""
    data = b"\x89PNG\xff\xfe" + PLAIN.encode() + b"\x00\xd8"

    assert make_redaction().redact_bytes(data) == b"\x89PNG\xff\xfesecret://plain\x00\xd8"
    assert make_redaction().redact_bytes(b"\xff\xfe\x00") == b"\xff\xfe\x00"
    assert (
        make_redaction().redact("half a pair \ud83d and q8w7e6r5t4y3u2i1o0") == "half a pair \ud83d and secret://plain"
    )


def test_a_key_is_revealed_to_its_provider_and_to_no_tool():
    """SAFE-09"""
    secrets = make_redaction("plain")

    assert secrets.reveal_key("secret://plain") == PLAIN
    with pytest.raises(Refusal, match="sends it to that provider only"):
        secrets.reveal("curl -H secret://plain")
    hidden = secrets.redact(f"https://user:x{PLAIN}y@host/")
    with pytest.raises(Refusal, match="sends it to that provider only"):
        secrets.reveal(hidden)


def test_a_replaced_value_stays_redacted():
    """SAFE-03"""
    secrets = make_redaction()
    secrets.learn([NamedSecret("plain", "another-value-11", "keyring")])

    assert secrets.redact("another-value-11") == "secret://plain"
    assert secrets.reveal("secret://plain") == "another-value-11"
    former = secrets.redact(PLAIN)
    assert PLAIN not in former
    with pytest.raises(Refusal):
        secrets.reveal(former)


def test_a_text_that_had_no_secret_is_searched_again_after_one_was_stored():
    """SAFE-03. The results of searches are kept, because prompts are searched in every turn."""
    secrets, data = make_redaction(), b"the new value is z0x9c8v7b6n5m4"
    assert not secrets.can_contain_secret(data)
    assert secrets.redact_bytes(data) == data

    secrets.learn([NamedSecret("later", "z0x9c8v7b6n5m4", "keyring")])

    assert secrets.can_contain_secret(data)
    assert secrets.redact_bytes(data) == b"the new value is secret://later"


def test_an_unknown_handle_is_refused_with_advice():
    """SAFE-09"""
    with pytest.raises(Refusal) as refused:
        make_redaction().reveal("secret://nothing")

    assert refused.value.code == "secret_missing"
    assert "callboard secrets set nothing" in refused.value.problem.hint
    assert make_redaction().reveal("grep -rn 'secret://' src") == "grep -rn 'secret://' src"


def test_text_that_resembles_a_handle_hides_no_value():
    """SAFE-03"""
    secrets = make_redaction()

    for text in (f"secret://{PLAIN}", f"secret://plain#{PLAIN}", f"secret://seen-{PLAIN}", f"secret://plain~{PLAIN}"):
        assert PLAIN not in secrets.redact(text)


def test_every_form_has_a_valid_name_for_handles():
    """SAFE-03: otherwise the handle of a form would reveal another text."""
    import re

    from callboard.secrets.forms import FORM, encode_forms

    named = {name for value in (PLAIN, HARD, KEY, 'a b/c+d%e~f\\g"hé') for name in encode_forms(value).values()}

    assert [name for name in named if name and re.fullmatch(FORM, name) is None] == []


def test_stored_secrets_are_listed_by_name_also_over_several_lines():
    """SAFE-03: a value over several lines has its own handle."""
    secrets = Redaction(
        [
            NamedSecret("deploy", "d3pl0y-Zx9wVu8tSr7qPo6n", "keyring"),
            NamedSecret("other", "0ther-Qq8Ww7Ee6", "keyring"),
        ]
    )
    joined = secrets.redact("key: d3pl0y-Zx9w\n    Vu8tSr7qPo6n")
    token = secrets.redact("ghp_" + "a1B2c3D4e5" * 4)

    assert "secret://seen-" in joined
    assert secrets.find_stored(joined) == ("deploy",)
    assert secrets.find_stored("secret://other#hex and secret://deploy#half-1") == ("deploy", "other")
    assert secrets.find_stored(token) == ()
    assert secrets.find_stored("nothing") == ()
