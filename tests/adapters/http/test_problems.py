"""Refusals as answers: one status per code, and fields with their wire names."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from callboard.adapters.http.problems import STATUS, build_input_refusal
from callboard.contracts.errors import CODES


def test_every_code_has_one_status():
    assert set(STATUS) == set(CODES)
    assert {status // 100 for status in STATUS.values()} == {4, 5}


class Bounded(msgspec.Struct):
    text: Annotated[str, Meta(min_length=1, max_length=3)] = "a"
    pair: Annotated[str, Meta(min_length=2)] = "ab"
    filled: Annotated[str, Meta(pattern=r"\S")] = "a"
    id: Annotated[str, Meta(pattern=r"^[a-z]+$")] = "a"
    names: Annotated[tuple[str, ...], Meta(min_length=1, max_length=2)] = ("a",)
    count: Annotated[int, Meta(ge=1, le=200)] = 1


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("text", "", "text must not be empty."),
        ("text", "abcd", "text must have at most 3 characters."),
        ("pair", "a", "pair must have at least 2 characters."),
        ("filled", " \n", "filled must not be empty."),
        ("id", "A!", "id contains invalid characters."),
        ("names", (), "names must not be empty."),
        ("names", ("a", "b", "c"), "names must have at most 2 entries."),
        ("count", 0, "count must be at least 1."),
        ("count", 201, "count must be at most 200."),
    ],
)
def test_an_exceeded_limit_is_described_for_its_field(field: str, value: object, message: str):
    """SAFE-05"""
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.json.decode(msgspec.json.encode({field: value}), type=Bounded)
    problem = build_input_refusal(error.value).problem
    assert (problem.field, problem.message) == (field, message)


class Inner(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    some_numbers: tuple[int, ...] = ()
    by_name: dict[str, int] = {}


class Outer(msgspec.Struct, rename="camel"):
    the_inner: Inner


def test_a_nested_field_is_named_by_its_path():
    def field(sent: object) -> str:
        with pytest.raises(msgspec.ValidationError) as error:
            msgspec.json.decode(msgspec.json.encode(sent), type=Outer)
        return build_input_refusal(error.value).problem.field

    assert field({"theInner": 1}) == "theInner"
    assert field({"theInner": {"someNumbers": [1, "x"]}}) == "theInner.someNumbers.1"
    assert field({"theInner": {"byName": {"a": "x"}}}) == "theInner.byName.*"
    assert field({"theInner": {"other": 1}}) == "theInner.other"
    assert field({"inner": 1}) == "theInner"
