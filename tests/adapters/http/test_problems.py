"""Refusals as answers: one status for each code, and fields named as they were sent."""

from __future__ import annotations

import msgspec
import pytest

from callboard.adapters.http.problems import STATUS, invalid
from callboard.contracts.errors import CODES


def test_every_code_has_one_status():
    assert set(STATUS) == set(CODES)
    assert {status // 100 for status in STATUS.values()} == {4, 5}


class Inner(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    some_numbers: tuple[int, ...] = ()
    by_name: dict[str, int] = {}


class Outer(msgspec.Struct, rename="camel"):
    the_inner: Inner


def test_a_nested_field_is_named_by_its_path():
    def field(sent: object) -> str:
        with pytest.raises(msgspec.ValidationError) as error:
            msgspec.json.decode(msgspec.json.encode(sent), type=Outer)
        return invalid(error.value).problem.field

    assert field({"theInner": 1}) == "theInner"
    assert field({"theInner": {"someNumbers": [1, "x"]}}) == "theInner.someNumbers.1"
    assert field({"theInner": {"byName": {"a": "x"}}}) == "theInner.byName.*"
    assert field({"theInner": {"other": 1}}) == "theInner.other"
    assert field({"inner": 1}) == "theInner"
