"""What is wrong with settings, in words that mend it: the file and line, the key, what was found, and what it may be."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast, get_args

import msgspec
from msgspec import inspect

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import Name, Url

_PLACE = re.compile(r"^(?P<said>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_NAMED = re.compile(r"^Object (?P<what>contains unknown|missing required) field `(?P<name>.*)`$", re.DOTALL)
_STEP = re.compile(r"\[(?:(\d+)|\.\.\.)\]|([^.\[\]]+)")
_PATTERN = re.compile(r"matching regex (?P<quoted>'.*')$", re.DOTALL)
#: The values of these are told as they were found; of any other a text may be a secret.
_TOLD = frozenset({"name", "fallback", "permission_mode", "kind", "transport", "verdict", "reasoning"})
_LONGEST = 60
#: How much is parsed to find a line, in characters: a file may be written so that it takes very much.
_MOST_PARSED = 1_000_000
_IN_WORDS = {
    repr(get_args(Name)[1].pattern): "of letters, digits and _ . : -, at most 64, with a letter or digit first",
    repr(get_args(Url)[1].pattern): "that begins with http:// or https:// and has no spaces",
}
#: The page that lists the accepted values, by the first key.
_PAGES = {
    "models": "docs/models.md",
    "fallback": "docs/models.md",
    "retry": "docs/models.md",
    "servers": "docs/tool-servers.md",
    "hooks": "docs/hooks.md",
    "rules": "docs/permissions.md",
}
_OTHER_KEYS = "docs/settings.md"

Step = str | int


def conversion_refusal(
    error: msgspec.ValidationError, data: Mapping[str, Any], table: type[msgspec.Struct], source: str, text: bytes = b""
) -> Refusal:
    """What the conversion of `data` to `table` was refused for. `source` says where it stands, `text` is the file, empty where
    there is none. The refusal is `bad_settings`."""
    found = _PLACE.match(str(error))
    said, path = (found["said"], found["path"] or "") if found else (str(error), "")
    steps: list[Step] = [int(number) if number else name for number, name in _STEP.findall(path)]
    # Which value of a table of any keys it is, is not said.
    one_of = "one of its values: " if "" in steps else ""
    steps = [step for step in steps if step != ""]
    named = _NAMED.match(said)
    if named and named["what"] == "contains unknown":
        # TOML gives a key to the table above it, so one that was added at the end of the file is in the last table.
        above = "; it belongs above the first [table] of the file" if steps and named["name"] in _tops(table) else ""
        expected, steps = (
            f"this key is unknown{above}{_listed('known are', _keys(table, data, steps))}",
            [*steps, named["name"]],
        )
    elif named:
        steps = [*steps, named["name"]]
        expected = f"this key is missing{_listed('it may be', _values(table, data, steps))}"
    else:
        expected = _expected(said, steps, data, _values(table, data, steps))
    return value_refusal(source, steps, f"{one_of}{expected}", text=text)


def value_refusal(source: str, steps: Sequence[Step], said: str, *, hint: str = "", text: bytes = b"") -> Refusal:
    """A refusal `bad_settings` of what stands at `steps`."""
    field = ".".join(map(str, steps))
    if source.startswith("--"):
        return Refusal(
            "bad_settings", f"{source}: {said}.", field=source, hint="`callboard up --help` tells what it may be."
        )
    if source.startswith("CALLBOARD_"):
        return Refusal(
            "bad_settings", f"{source}: {said}.", field=source, hint=f"Set {source} to that, or take it away."
        )
    number = find_line(text, steps)
    where = f"{source}{f', line {number},' if number else ''}{f' at `{field}`' if field else ''}"
    hint = hint or f"See {_PAGES.get(str(steps[0]) if steps else '', _OTHER_KEYS)}."
    return Refusal("bad_settings", f"{where}: {said}.", field=field, hint=hint)


def find_line(text: bytes, steps: Sequence[Step]) -> int:
    """The line of a TOML file on which what stands at `steps` begins, or the table that should have it; 0 where that is not
    known, or takes too long to find."""
    lines = text.decode("utf-8", "replace").split("\n")
    left = _MOST_PARSED

    def parses(count: int) -> tuple[int, Any]:
        """The most lines of the first `count` that are TOML, and what they say."""
        nonlocal left
        while count and left > 0:
            some = "\n".join(lines[:count])
            left -= len(some)
            try:
                return count, tomllib.loads(some)
            except tomllib.TOMLDecodeError:
                count -= 1
        return 0, {}

    whole = parses(len(lines))[1]
    known = next((steps[:length] for length in range(len(steps), 0, -1) if _has(whole, steps[:length])), ())
    if not known:
        return 0
    # What is there after some lines stays there after more, so that few of them need to be looked at.
    end = bisect_left(range(len(lines) + 1), True, key=lambda count: _has(parses(count)[1], known))
    before = parses(end - 1)[0]
    return before + 1 if left > 0 else 0


def _expected(said: str, steps: list[Step], data: Mapping[str, Any], values: tuple[str, ...]) -> str:
    value = _at(data, steps)
    if values:
        return f"found {_shown(value)}{_listed('it may be', values)}"
    pattern = _PATTERN.search(said)
    if pattern and pattern["quoted"] in _IN_WORDS:
        said = f"{said[: pattern.start()]}{_IN_WORDS[pattern['quoted']]}"
    said = f"{said[:1].lower()}{said[1:]}"
    last = next((step for step in reversed(steps) if isinstance(step, str)), "")
    if (isinstance(value, int | float) and ", got " not in said) or (isinstance(value, str) and last in _TOLD):
        said = f"{said}, found {_shown(value)}"
    return said


def _shown(value: Any) -> str:
    shown = msgspec.json.encode(value, enc_hook=str).decode()
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _listed(words: str, values: Iterable[str]) -> str:
    listed = ", ".join(values)
    return f"; {words} {listed}" if listed else ""


def _tops(table: type[msgspec.Struct]) -> frozenset[str]:
    """The keys of the file that are no tables."""
    top = inspect.type_info(table)
    fields = top.fields if isinstance(top, inspect.StructType) else ()
    return frozenset(one.encode_name for one in fields if not any(map(_is_table, _alternatives(one.type))))


def _is_table(one: inspect.Type) -> bool:
    inner = _alternatives(one.item_type) if isinstance(one, inspect.VarTupleType) else [one]
    return any(isinstance(each, inspect.StructType) for each in inner)


def _keys(table: type[msgspec.Struct], data: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """The keys that a table at this place can have."""
    found = dict[str, None]()
    for one in _types(table, data, steps):
        if isinstance(one, inspect.StructType):
            found.update({one.tag_field: None} if one.tag_field else {})
            found.update({field.encode_name: None for field in one.fields})
    return list(found)


def _values(table: type[msgspec.Struct], data: Mapping[str, Any], steps: Sequence[Step]) -> tuple[str, ...]:
    """The values that stand in a closed list for this place; none where any of a type can be."""
    types = _types(table, data, steps)
    return tuple(str(value) for one in types if isinstance(one, inspect.LiteralType) for value in one.values)


def _types(table: type[msgspec.Struct], data: Mapping[str, Any], steps: Sequence[Step]) -> list[inspect.Type]:
    """What can stand at this place; of kinds of tables those of the kind that is said to be there."""
    here, value = [inspect.type_info(table)], cast("Any", data)
    for step in steps:
        here = [inner for one in here for inner in _within(one, step, value)]
        value = _at(value, [step])
    return here


def _within(outer: inspect.Type, step: Step, value: Any) -> list[inspect.Type]:
    match outer:
        case inspect.StructType(tag_field=str(field), tag=tag) if step == field:
            return [inspect.LiteralType((cast("str", tag),))]
        case inspect.StructType(fields=fields):
            found = next((one.type for one in fields if one.encode_name == step), None)
            other = outer.tag_field is not None and _at(value, [outer.tag_field]) not in (None, outer.tag)
            return [] if found is None or other else _alternatives(found)
        case inspect.VarTupleType(item_type=item):
            return _alternatives(item)
        case _:
            return []


def _alternatives(one: inspect.Type) -> list[inspect.Type]:
    while isinstance(one, inspect.Metadata):
        one = one.type
    return [*one.types] if isinstance(one, inspect.UnionType) else [one]


def _at(data: Any, steps: Sequence[Step]) -> Any:
    """What stands there; None where nothing does."""
    for step in steps:
        match data, step:
            case dict(), str() if step in data:
                data = cast("dict[str, Any]", data)[step]
            case list() | tuple(), int() if step < len(cast("Sequence[Any]", data)):
                data = cast("Sequence[Any]", data)[step]
            case _:
                return None
    return data


def _has(data: Any, steps: Sequence[Step]) -> bool:
    return _at(data, steps) is not None


def field_suffix(message: str, field: str) -> str:
    """Return the field in brackets to print behind a message; empty if the message already names the field."""
    is_named = f"`{field}`" in message or message.startswith(f"{field}:")
    return f" [{field}]" if field and not is_named else ""
