"""Messages for invalid settings: file and line, key, value, and accepted values."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args

import msgspec
from msgspec import inspect

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import Name, SettingsProblem, SettingsProblemCode, Url

_PLACE = re.compile(r"^(?P<message>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_NAMED = re.compile(r"^Object (?P<error>contains unknown|missing required) field `(?P<name>.*)`$", re.DOTALL)
_STEP = re.compile(r"\[(?:(\d+)|\.\.\.)\]|([^.\[\]]+)")
_PATTERN = re.compile(r"matching regex (?P<quoted>'.*')$", re.DOTALL)
_TYPE = re.compile(r"^Expected `(?P<expected>.*)`, got `(?P<actual>.*)`$")
_LIMIT = re.compile(r"^Expected `.*` (?P<limit>(?:of length )?[<>]=?) (?P<number>\S+)$")
#: Keys whose text values may be quoted: any other text may be a secret.
_QUOTABLE = frozenset({"name", "fallback", "permission_mode", "kind", "transport", "verdict", "reasoning"})
_MAX_QUOTE_CHARS = 60
#: Maximum characters parsed to find a line: a hostile file could make the search very slow.
_MAX_PARSED_CHARS = 1_000_000
_LIMITS: Mapping[str, SettingsProblemCode] = {
    ">=": "too_small",
    ">": "not_above",
    "<=": "too_large",
    "of length >=": "too_short",
    "of length <=": "too_long",
}
_PATTERNS: Mapping[str, SettingsProblemCode] = {
    repr(get_args(Name)[1].pattern): "invalid_name",
    repr(get_args(Url)[1].pattern): "invalid_url",
}
_PATTERNS_IN_WORDS = {
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


class InvalidValue(NamedTuple):
    """An invalid value: the English text, and its code with parameters."""

    message: str
    code: SettingsProblemCode
    parameters: Mapping[str, str]


def build_conversion_refusal(
    error: msgspec.ValidationError, data: Mapping[str, Any], table: type[msgspec.Struct], source: str, text: bytes = b""
) -> Refusal:
    """Return the refusal `bad_settings` for a failed conversion of `data` to `table`.

    Args:
        source: File, variable or option, for the message.
        text: Content of the file; empty without one.
    """
    match = _PLACE.match(str(error))
    message, path = (match["message"], match["path"] or "") if match else (str(error), "")
    steps: list[Step] = [int(number) if number else name for number, name in _STEP.findall(path)]
    # The error does not name the key in a table with free keys.
    prefix = "one of its values: " if "" in steps else ""
    steps = [step for step in steps if step != ""]
    named = _NAMED.match(message)
    if named and named["error"] == "contains unknown":
        # TOML assigns a key to the table above it, so a key at the end of the file belongs to the last table.
        is_misplaced = bool(steps) and named["name"] in _list_top_keys(table)
        above = "; it belongs above the first [table] of the file" if is_misplaced else ""
        keys = _list_keys(table, data, steps)
        invalid = InvalidValue(
            f"this key is unknown{above}{_format_list('known keys:', keys)}",
            "misplaced_key" if is_misplaced else "unknown_key",
            {"key": named["name"], **_format_accepted(keys)},
        )
        steps = [*steps, named["name"]]
    elif named:
        steps = [*steps, named["name"]]
        values = _list_values(table, data, steps)
        message = f"this key is missing{_format_list('use one of', values)}"
        invalid = InvalidValue(message, "missing_key", {"key": named["name"], **_format_accepted(values)})
    else:
        invalid = _describe_value(message, steps, data, _list_values(table, data, steps))
    if prefix:
        code = "wrong_type_inside" if invalid.code == "wrong_type" else invalid.code
        invalid = invalid._replace(message=f"{prefix}{invalid.message}", code=code)
    return build_value_refusal(source, steps, invalid, text=text)


def build_value_refusal(
    source: str, steps: Sequence[Step], invalid: InvalidValue, *, hint: str = "", text: bytes = b""
) -> Refusal:
    """Return the refusal `bad_settings` for the value at `steps`, in a file with the parameters `line` and `docs`."""
    message, reason, parameters = invalid
    field = ".".join(map(str, steps))
    if source.startswith("--"):
        return Refusal(
            "bad_settings",
            f"{source}: {message}.",
            field=source,
            hint="`callboard up --help` lists the options.",
            reason=reason,
            parameters=parameters,
        )
    if source.startswith("CALLBOARD_"):
        return Refusal(
            "bad_settings",
            f"{source}: {message}.",
            field=source,
            hint=f"Set {source} to such a value, or unset it.",
            reason=reason,
            parameters=parameters,
        )
    number = find_line(text, steps)
    location = f"{source}{f', line {number},' if number else ''}{f' at `{field}`' if field else ''}"
    docs = "" if hint else _PAGES.get(str(steps[0]) if steps else "", _OTHER_KEYS)
    references = {"line": str(number or ""), "docs": docs}
    return Refusal(
        "bad_settings",
        f"{location}: {message}.",
        field=field,
        hint=hint or f"See {docs}.",
        reason=reason,
        parameters={**parameters, **{name: value for name, value in references.items() if value}},
    )


def to_problem(refusal: Refusal, file: str, *, keeps_last: bool = False) -> SettingsProblem:
    """Convert a refusal `bad_settings` to the problem of a file."""
    problem = refusal.problem
    return SettingsProblem(
        file=file,
        message=problem.message,
        field=problem.field,
        hint=problem.hint,
        keeps_last=keeps_last,
        code=problem.reason,
        params=problem.params,
    )


def find_line(text: bytes, steps: Sequence[Step]) -> int:
    """Return the line where the value at `steps`, or its table, begins; 0 if it is unknown or too slow to find."""
    lines = text.decode("utf-8", "replace").split("\n")
    remaining = _MAX_PARSED_CHARS

    def parse_prefix(count: int) -> tuple[int, Any]:
        """Return the longest valid prefix of the first `count` lines, and its tables."""
        nonlocal remaining
        while count and remaining > 0:
            prefix = "\n".join(lines[:count])
            remaining -= len(prefix)
            try:
                return count, tomllib.loads(prefix)
            except tomllib.TOMLDecodeError:
                count -= 1
        return 0, {}

    tables = parse_prefix(len(lines))[1]
    path = next((steps[:length] for length in range(len(steps), 0, -1) if _has_value(tables, steps[:length])), ())
    if not path:
        return 0
    # A value stays present as lines are added, so a binary search finds its first line.
    end = bisect_left(range(len(lines) + 1), True, key=lambda count: _has_value(parse_prefix(count)[1], path))
    before = parse_prefix(end - 1)[0]
    return before + 1 if remaining > 0 else 0


def _describe_value(message: str, steps: list[Step], data: Mapping[str, Any], values: tuple[str, ...]) -> InvalidValue:
    value = _find_value(data, steps)
    if values:
        quoted = _quote(value)
        parameters = {"value": quoted, **_format_accepted(values)}
        return InvalidValue(f"found {quoted}{_format_list('use one of', values)}", "not_accepted", parameters)
    code, parameters = _classify(message)
    pattern = _PATTERN.search(message)
    if pattern and pattern["quoted"] in _PATTERNS_IN_WORDS:
        message = f"{message[: pattern.start()]}{_PATTERNS_IN_WORDS[pattern['quoted']]}"
    message = f"{message[:1].lower()}{message[1:]}"
    key = next((step for step in reversed(steps) if isinstance(step, str)), "")
    if (isinstance(value, int | float) and ", got " not in message) or (isinstance(value, str) and key in _QUOTABLE):
        message = f"{message}, found {_quote(value)}"
    return InvalidValue(message, code, parameters if code != "invalid_value" else {"reason": message})


def _classify(message: str) -> tuple[SettingsProblemCode, dict[str, str]]:
    """Return the code and parameters of a message of msgspec."""
    if match := _TYPE.match(message):
        return "wrong_type", match.groupdict()
    if (match := _LIMIT.match(message)) and match["limit"] in _LIMITS:
        return _LIMITS[match["limit"]], {"limit": match["number"]}
    if (match := _PATTERN.search(message)) and match["quoted"] in _PATTERNS:
        return _PATTERNS[match["quoted"]], {}
    return "invalid_value", {}


def _quote(value: Any) -> str:
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= _MAX_QUOTE_CHARS else f"{text[:_MAX_QUOTE_CHARS]}…"


def _format_list(label: str, values: Iterable[str]) -> str:
    listed = ", ".join(values)
    return f"; {label} {listed}" if listed else ""


def _format_accepted(values: Iterable[str]) -> dict[str, str]:
    listed = ", ".join(values)
    return {"accepted": listed} if listed else {}


def _list_top_keys(table: type[msgspec.Struct]) -> frozenset[str]:
    """Return the top-level keys that are not tables."""
    top = inspect.type_info(table)
    fields = top.fields if isinstance(top, inspect.StructType) else ()
    return frozenset(field.encode_name for field in fields if not any(map(_is_table, _list_alternatives(field.type))))


def _is_table(kind: inspect.Type) -> bool:
    inner = _list_alternatives(kind.item_type) if isinstance(kind, inspect.VarTupleType) else [kind]
    return any(isinstance(item, inspect.StructType) for item in inner)


def _list_keys(table: type[msgspec.Struct], data: Mapping[str, Any], steps: Sequence[Step]) -> list[str]:
    """Return the accepted keys of the table at this path."""
    keys = dict[str, None]()
    for kind in _list_types(table, data, steps):
        if isinstance(kind, inspect.StructType):
            keys.update({kind.tag_field: None} if kind.tag_field else {})
            keys.update({field.encode_name: None for field in kind.fields})
    return list(keys)


def _list_values(table: type[msgspec.Struct], data: Mapping[str, Any], steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the accepted values at this path; empty for an open type."""
    types = _list_types(table, data, steps)
    return tuple(str(value) for kind in types if isinstance(kind, inspect.LiteralType) for value in kind.values)


def _list_types(table: type[msgspec.Struct], data: Mapping[str, Any], steps: Sequence[Step]) -> list[inspect.Type]:
    """Return the accepted types at this path; a tag in the data selects the kind of table."""
    types, value = [inspect.type_info(table)], cast("Any", data)
    for step in steps:
        types = [inner for outer in types for inner in _list_inner_types(outer, step, value)]
        value = _find_value(value, [step])
    return types


def _list_inner_types(outer: inspect.Type, step: Step, value: Any) -> list[inspect.Type]:
    match outer:
        case inspect.StructType(tag_field=str(field), tag=tag) if step == field:
            return [inspect.LiteralType((cast("str", tag),))]
        case inspect.StructType(fields=fields):
            kind = next((field.type for field in fields if field.encode_name == step), None)
            has_other_tag = outer.tag_field is not None and _find_value(value, [outer.tag_field]) not in (
                None,
                outer.tag,
            )
            return [] if kind is None or has_other_tag else _list_alternatives(kind)
        case inspect.VarTupleType(item_type=item):
            return _list_alternatives(item)
        case _:
            return []


def _list_alternatives(kind: inspect.Type) -> list[inspect.Type]:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return [*kind.types] if isinstance(kind, inspect.UnionType) else [kind]


def _find_value(data: Any, steps: Sequence[Step]) -> Any:
    """Return the value at this path, or None."""
    for step in steps:
        match data, step:
            case dict(), str() if step in data:
                data = cast("dict[str, Any]", data)[step]
            case list() | tuple(), int() if step < len(cast("Sequence[Any]", data)):
                data = cast("Sequence[Any]", data)[step]
            case _:
                return None
    return data


def _has_value(data: Any, steps: Sequence[Step]) -> bool:
    return _find_value(data, steps) is not None


def describe_problem(problem: SettingsProblem) -> str:
    """Return the problem with its file, line and field."""
    # A problem in a line of the file already starts with its location.
    message = problem.message if problem.message.startswith(problem.file) else f"{problem.file}: {problem.message}"
    return f"{message}{format_field_suffix(message, problem.field)}"


def describe_effect(problem: SettingsProblem) -> str:
    """Return which settings apply until the problem is fixed."""
    applies = "the last valid settings apply" if problem.keeps_last else "every call asks for approval"
    return f"Until it is fixed, {applies}."


def format_field_suffix(message: str, field: str) -> str:
    """Return the field in brackets to print behind a message; empty if the message already names the field."""
    is_named = f"`{field}`" in message or field in message.split(" ", 1)[0]
    return f" [{field}]" if field and not is_named else ""
