"""The stored form of headers, and the checks that a permission fact leaves out."""

from __future__ import annotations

import string
from typing import get_args

import pytest

from callboard.contracts.facts.permission import CHECK_NAMES, Check, list_checks
from callboard.contracts.ids import IdKind, pack, render, unpack
from callboard.contracts.record import Header, decode_header, encode_header
from callboard.contracts.scope import PERSON, Scope

MAX_UUID = (1 << 128) - 1


@pytest.mark.parametrize("number", [0, 1, 0x0195_5A3C_0000_7000_8000_0000_0000_0001, MAX_UUID])
@pytest.mark.parametrize("kind", get_args(IdKind))
def test_an_id_of_the_runtime_packs_into_seventeen_bytes_and_unpacks_unchanged(kind: IdKind, number: int):
    text = render(kind, number)

    packed = pack(kind, text)

    assert isinstance(packed, bytes)
    assert (len(packed), unpack(kind, packed)) == (17, text)


@pytest.mark.parametrize("number", [0, 61, 62, 62**2, 62**4 - 1, 62**4, MAX_UUID >> 7, MAX_UUID])
def test_an_id_is_its_number_in_base_62_with_leading_zeros(number: int):
    digits = render("turn", number).removeprefix("trn_")

    value = 0
    for digit in digits:
        value = value * 62 + (string.digits + string.ascii_uppercase + string.ascii_lowercase).index(digit)
    assert (len(digits), value) == (22, number)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "trn_1",
        render("run", 7),
        "trn_" + "+" * 22,
        "trn_" + "0" * 23,
        "trn_" + "-" * 22,
        "trn_" + "0" * 21,
        "trn_" + "é" * 22,
    ],
)
def test_any_other_text_is_not_packed(text: str):
    assert pack("turn", text) == text


def test_a_header_is_decoded_unchanged_whatever_its_ids_are():
    names = [name for name in Scope.__struct_fields__ if name not in ("step", "attempt")]
    scope = Scope(step=3, attempt=2, **{name: f"{name} of somebody" for name in names})
    header = Header(
        type="turn.started", at=1, epoch=4, version=2, command_id="by hand", actor=PERSON, cause="ses_1/2", scope=scope
    )

    assert decode_header(encode_header(header)) == header
    assert decode_header(encode_header(Header(type="x", at=1, epoch=1))) == Header(type="x", at=1, epoch=1)


def test_the_ids_of_a_header_are_stored_packed():
    scope = Scope(
        agent="solo",
        thread=render("thread", 1),
        turn=render("turn", 2),
        run=render("run", 3),
        tool_call=render("call", 4),
    )
    header = Header(type="tool.started", at=1_700_000_000_000_000, epoch=1, scope=scope)

    assert decode_header(encode_header(header)) == header
    assert len(encode_header(header)) < 4 * 17 + 64


def test_omitted_checks_are_listed_as_allowed_in_their_order():
    mode = Check(name="mode", verdict="allow", detail="planning")
    ask = Check(name="approval", verdict="ask")

    assert [check.name for check in list_checks(())] == list(CHECK_NAMES)
    assert list_checks((mode, ask)) == tuple(
        {"mode": mode, "approval": ask}.get(name, Check(name=name, verdict="allow")) for name in CHECK_NAMES
    )


def test_no_check_is_listed_after_the_check_that_denied_the_call():
    denied = Check(name="mode", verdict="deny", detail="no")

    assert list_checks((denied,)) == (*(Check(name=name, verdict="allow") for name in CHECK_NAMES[:3]), denied)
