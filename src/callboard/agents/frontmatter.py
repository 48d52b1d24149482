"""Decoding of frontmatter. All invalid fields are reported, each with its line."""

from __future__ import annotations

import difflib
import io
import types
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
import yaml
from yaml.reader import ReaderError

from callboard.contracts.ports.agents import DefinitionProblem

T = TypeVar("T", bound=msgspec.Struct)

_FENCE = "---"
_MAX_DEPTH = 12
_MAX_VALUE_CHARS = 40
_ALIAS = "while scanning an alias"
#: Hints for common errors, by YAML's message.
_HINTS = {
    _ALIAS: 'Put * in quotes: tools: ["*"].',
    "mapping values are not allowed here": "Put text with a colon in quotes.",
    "found character '\\t' that cannot start any token": "Indent with spaces, not with tabs.",
}


class FrontmatterSplit(NamedTuple):
    """Frontmatter and body of a file. `line` and `body_line` are their first lines, counted from 1."""

    front: str
    body: str
    line: int
    body_line: int


def split_frontmatter(text: str) -> FrontmatterSplit | None:
    """Split a file that starts with a line `---` and has a second one; None for any other file."""
    lines = io.StringIO(text).readlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return None
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            return FrontmatterSplit("".join(lines[1:number]), "".join(lines[number + 1 :]), 2, number + 2)
    return None


def suggest(name: str, names: Iterable[str]) -> str:
    """Return a question that suggests the most similar valid name; empty if no name is similar."""
    by_key = {_build_comparison_key(valid): valid for valid in names}
    matches = difflib.get_close_matches(_build_comparison_key(name), by_key, n=1, cutoff=0.6)
    return f"Did you mean `{by_key[matches[0]]}`?" if matches else ""


def _build_comparison_key(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _compose(text: str) -> yaml.Node | None:
    """Return the nodes of the frontmatter. Raises YAMLError.

    Anchors and deep nesting are not allowed: anchors can expand a small file without limit.
    """
    depth = 0
    parse = cast("Callable[..., Iterable[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
    compose = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
    for event in parse(text, Loader=yaml.SafeLoader):
        start = cast("yaml.Mark | None", event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(_ALIAS, None, "anchors and aliases are not supported", start)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise yaml.MarkedYAMLError(None, None, "it is nested too deeply", start)
    return compose(text, Loader=yaml.SafeLoader)


class Frontmatter:
    """Decoder of a file's frontmatter.

    Attributes:
        problems: The problems so far.
        lines: The line of each field by its path, counted from 1.
    """

    def __init__(self, file: str, halves: FrontmatterSplit) -> None:
        self.problems: list[DefinitionProblem] = []
        self.lines: dict[str, int] = {}
        self._file = file
        self._text = halves.front
        self._first = halves.line

    def decode(self, kind: type[T]) -> T | None:
        """Decode the frontmatter as this Struct. Return None and add to `problems` if it is invalid."""
        try:
            node = _compose(self._text)
        except ReaderError as error:
            line = self._first + self._text.count("\n", 0, error.position)
            self._add_problem_at(line, "", f"The frontmatter has a character that YAML does not allow: {error.reason}.")
            return None
        except yaml.MarkedYAMLError as error:
            line = self._first if error.problem_mark is None else self._find_line(error.problem_mark)
            reason = error.problem or error.context or ""
            hint = _HINTS.get(error.context or "", "") or _HINTS.get(reason, "")
            self._add_problem_at(line, "", f"The frontmatter is not valid YAML: {reason}.", hint)
            return None
        if node is None:
            self._add_problem_at(self._first, "", "The frontmatter is empty.", "Add at least a name: `name: lead`.")
            return None
        value = self._read_value(node, kind, "", self._first)
        return None if self.problems else cast("T", value)

    def add_problem(self, field: str, message: str, hint: str = "") -> None:
        """Add a problem of a decoded field."""
        self._add_problem_at(self.lines.get(field, self._first), field, message, hint)

    def _add_problem_at(self, line: int, field: str, message: str, hint: str = "") -> None:
        self.problems.append(DefinitionProblem(file=self._file, line=line, field=field, message=message, hint=hint))

    def _find_line(self, mark: yaml.Mark) -> int:
        return self._first + mark.line

    def _read_value(self, node: yaml.Node, kind: Any, at: str, line: int) -> Any:
        """Return the value of a node as this type; UNSET after a problem. `line` is the first line of the field."""
        self.lines[at] = line
        plain = _select_type(kind, node)
        if isinstance(plain, type) and issubclass(plain, msgspec.Struct):
            return self._read_struct(node, plain, at, line)
        if get_origin(plain) is tuple and isinstance(node, yaml.SequenceNode):
            items = cast("list[yaml.Node]", node.value)
            each = get_args(plain)[0]
            values = [
                self._read_value(item, each, f"{at}[{number}]", self._find_line(item.start_mark))
                for number, item in enumerate(items)
            ]
            return msgspec.UNSET if msgspec.UNSET in values else tuple(values)
        return self._read_leaf(node, kind, at, line)

    def _read_struct(self, node: yaml.Node, kind: type[msgspec.Struct], at: str, line: int) -> Any:
        if not isinstance(node, yaml.MappingNode):
            subject = f"`{at}`" if at else "The frontmatter"
            self._add_problem_at(line, at, f"{subject} must be {_describe_type(kind)}; it is {self._quote(node)}.")
            return msgspec.UNSET
        hints = get_type_hints(kind, include_extras=True)
        values: dict[str, Any] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else self._quote(key)
            field, key_line = f"{at}.{name}" if at else name, self._find_line(key.start_mark)
            if name in values:
                self._add_problem_at(key_line, field, f"`{field}` occurs twice.", "Remove one of them.")
            elif name not in hints:
                self._add_problem_at(key_line, field, f"There is no field `{field}`.", _suggest_field(name, hints))
            else:
                values[name] = self._read_value(value, hints[name], field, key_line)
        for field in msgspec.structs.fields(kind):
            if field.required and field.name not in values:
                missing = f"{at}.{field.name}" if at else field.name
                self._add_problem_at(line, missing, f"`{missing}` is missing: add {_describe_type(hints[field.name])}.")
                return msgspec.UNSET
        return msgspec.UNSET if msgspec.UNSET in values.values() else kind(**values)

    def _read_leaf(self, node: yaml.Node, kind: Any, at: str, line: int) -> Any:
        if isinstance(node, yaml.ScalarNode):
            try:
                loader = yaml.SafeLoader("")
                value = cast("object", loader.construct_object(node))  # pyright: ignore[reportUnknownMemberType]
                if value is None:
                    self._add_problem_at(line, at, f"`{at}` is empty.", "Set a value, or remove the line.")
                    return msgspec.UNSET
                if isinstance(value, str):
                    value.encode()
                return msgspec.convert(value, kind)
            except (ValueError, yaml.YAMLError):
                pass
        message = f"`{at}` must be {_describe_type(kind)}; it is {self._quote(node)}."
        self._add_problem_at(line, at, message, _suggest_value(kind, node))
        return msgspec.UNSET

    def _quote(self, node: yaml.Node) -> str:
        text = " ".join(self._text[node.start_mark.index : node.end_mark.index].split())
        return f"`{text if len(text) <= _MAX_VALUE_CHARS else f'{text[: _MAX_VALUE_CHARS - 1]}…'}`"


def _suggest_value(annotated: Any, node: yaml.Node) -> str:
    """Return how to correct a value of the wrong type; empty if unknown."""
    kind = _select_type(annotated, node)
    text = str(node.value) if isinstance(node, yaml.ScalarNode) else ""
    if get_origin(kind) is Literal:
        return suggest(text, [value for value in get_args(kind) if value])
    if get_origin(kind) is tuple and text:
        return f"Write a list: [{text}]."
    if kind is str and node.tag != "tag:yaml.org,2002:str" and _is_valid(text, annotated):
        return "YAML does not read this as text. Put it in quotes."
    if kind is str and text.isdecimal() and _is_valid(f"{text}m", annotated):
        return f"Add a unit: `{text}s` are seconds, `{text}m` minutes."
    return ""


def _is_valid(text: str, kind: Any) -> bool:
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return False
    return True


def _suggest_field(name: str, fields: Iterable[str]) -> str:
    if name == "prompt":
        return "The prompt is the text below the frontmatter."
    return suggest(name, fields) or f"Fields: {', '.join(fields)}."


def _select_type(kind: Any, node: yaml.Node) -> Any:
    """Return the type without annotations; for a union, the member that fits the kind of node."""
    if get_origin(kind) is Annotated:
        return _select_type(get_args(kind)[0], node)
    if get_origin(kind) in (Union, types.UnionType):
        members = [member for member in get_args(kind) if member is not type(None)]
        structs = [member for member in members if isinstance(member, type) and issubclass(member, msgspec.Struct)]
        others = [member for member in members if member not in structs]
        fitting = structs or others if isinstance(node, yaml.MappingNode) else others or structs
        return _select_type(fitting[0], node)
    return kind


def _describe_type(kind: Any) -> str:
    """Describe the accepted values of a type for a person."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        descriptions = [meta.description for meta in arguments[1:] if isinstance(meta, msgspec.Meta)]
        return next(filter(None, descriptions), None) or _describe_type(arguments[0])
    if origin is Literal:
        return f"one of {', '.join(filter(None, arguments))}"
    if origin is tuple:
        return "a list"
    if origin in (Union, types.UnionType):
        return " or ".join(_describe_type(member) for member in arguments if member is not type(None))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"a mapping of {', '.join(field.name for field in msgspec.structs.fields(kind))}"
    if kind is bool:
        return "true or false"
    return "a whole number" if kind is int else "text"
