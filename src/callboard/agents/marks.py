"""Frontmatter read with its places: every field that is wrong is told with its own line, not only the first one."""

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
_DEEPEST = 12
_SHOWN = 40
_ALIAS = "while scanning an alias"
#: Where YAML stumbles over something that people write without thinking of YAML.
_HINTS = {
    _ALIAS: 'A * stands in quotes: tools: ["*"].',
    "mapping values are not allowed here": "Text that holds a colon stands in quotes.",
    "found character '\\t' that cannot start any token": "Indent with spaces, not with tabs.",
}


class FrontmatterSplit(NamedTuple):
    """A file's frontmatter and what follows it; `line` is the one in which the frontmatter begins, from 1."""

    front: str
    body: str
    line: int
    body_line: int


def split_frontmatter(text: str) -> FrontmatterSplit | None:
    """The halves of a file that begins with a line `---` and has another one; None for any other file."""
    lines = io.StringIO(text).readlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return None
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            return FrontmatterSplit("".join(lines[1:number]), "".join(lines[number + 1 :]), 2, number + 2)
    return None


def suggest(name: str, known: Iterable[str]) -> str:
    """A question that offers the known name most like this one, empty where none is like it."""
    by_form = {_form(one): one for one in known}
    found = difflib.get_close_matches(_form(name), by_form, n=1, cutoff=0.6)
    return f"Did you mean `{by_form[found[0]]}`?" if found else ""


def _form(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _composed(text: str) -> yaml.Node | None:
    """The frontmatter's nodes. YAML as far as frontmatter needs it: no anchors, which can make a small file endless, and no
    deep nesting. Raises YAMLError."""
    depth = 0
    parse = cast("Callable[..., Iterable[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
    compose = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
    for event in parse(text, Loader=yaml.SafeLoader):
        start = cast("yaml.Mark | None", event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(_ALIAS, None, "anchors and aliases are not read here", start)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise yaml.MarkedYAMLError(None, None, "it is nested too deeply", start)
    return compose(text, Loader=yaml.SafeLoader)


class Frontmatter:
    """One file's frontmatter on its way into a Struct: `problems` are gathered, `lines` are those of the fields by path."""

    def __init__(self, file: str, halves: FrontmatterSplit) -> None:
        self.problems: list[DefinitionProblem] = []
        self.lines: dict[str, int] = {}
        self._file = file
        self._text = halves.front
        self._first = halves.line

    def decode(self, kind: type[T]) -> T | None:
        """The frontmatter as this Struct; None where `problems` say why not."""
        try:
            node = _composed(self._text)
        except ReaderError as error:
            line = self._first + self._text.count("\n", 0, error.position)
            self._problem(line, "", f"The frontmatter holds a character that YAML does not take: {error.reason}.")
            return None
        except yaml.MarkedYAMLError as error:
            line = self._first if error.problem_mark is None else self._line(error.problem_mark)
            said = error.problem or error.context or ""
            hint = _HINTS.get(error.context or "", "") or _HINTS.get(said, "")
            self._problem(line, "", f"The frontmatter is not YAML: {said}.", hint)
            return None
        if node is None:
            self._problem(self._first, "", "The frontmatter is empty.", "It names at least the agent: `name: lead`.")
            return None
        found = self._value(node, kind, "", self._first)
        return None if self.problems else cast("T", found)

    def problem(self, field: str, message: str, hint: str = "") -> None:
        """Adds what is wrong with a field that was read."""
        self._problem(self.lines.get(field, self._first), field, message, hint)

    def _problem(self, line: int, field: str, message: str, hint: str = "") -> None:
        self.problems.append(DefinitionProblem(file=self._file, line=line, field=field, message=message, hint=hint))

    def _line(self, mark: yaml.Mark) -> int:
        return self._first + mark.line

    def _value(self, node: yaml.Node, kind: Any, at: str, line: int) -> Any:
        """The value of a node as this type; UNSET where a problem says why not. `line` is where the field begins."""
        self.lines[at] = line
        plain = _chosen(kind, node)
        if isinstance(plain, type) and issubclass(plain, msgspec.Struct):
            return self._struct(node, plain, at, line)
        if get_origin(plain) is tuple and isinstance(node, yaml.SequenceNode):
            items = cast("list[yaml.Node]", node.value)
            each = get_args(plain)[0]
            found = [
                self._value(item, each, f"{at}[{number}]", self._line(item.start_mark))
                for number, item in enumerate(items)
            ]
            return msgspec.UNSET if msgspec.UNSET in found else tuple(found)
        return self._leaf(node, kind, at, line)

    def _struct(self, node: yaml.Node, kind: type[msgspec.Struct], at: str, line: int) -> Any:
        if not isinstance(node, yaml.MappingNode):
            what = f"`{at}` must be" if at else "The frontmatter must be"
            self._problem(line, at, f"{what} {_described(kind)}; it is {self._shown(node)}.")
            return msgspec.UNSET
        hints = get_type_hints(kind, include_extras=True)
        values: dict[str, Any] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else self._shown(key)
            field, place = f"{at}.{name}" if at else name, self._line(key.start_mark)
            if name in values:
                self._problem(place, field, f"`{field}` is there twice.", "Keep one of them.")
            elif name not in hints:
                self._problem(place, field, f"There is no field `{field}`.", _unknown(name, hints))
            else:
                values[name] = self._value(value, hints[name], field, place)
        for field in msgspec.structs.fields(kind):
            if field.required and field.name not in values:
                missing = f"{at}.{field.name}" if at else field.name
                self._problem(line, missing, f"`{missing}` is missing; it is {_described(hints[field.name])}.")
                return msgspec.UNSET
        return msgspec.UNSET if msgspec.UNSET in values.values() else kind(**values)

    def _leaf(self, node: yaml.Node, kind: Any, at: str, line: int) -> Any:
        if isinstance(node, yaml.ScalarNode):
            try:
                loader = yaml.SafeLoader("")
                value = cast("object", loader.construct_object(node))  # pyright: ignore[reportUnknownMemberType]
                if value is None:
                    self._problem(line, at, f"`{at}` is empty.", "Give it a value, or leave the line out.")
                    return msgspec.UNSET
                if isinstance(value, str):
                    value.encode()
                return msgspec.convert(value, kind)
            except (ValueError, yaml.YAMLError):
                pass
        message = f"`{at}` must be {_described(kind)}; it is {self._shown(node)}."
        self._problem(line, at, message, _mending(kind, node))
        return msgspec.UNSET

    def _shown(self, node: yaml.Node) -> str:
        text = " ".join(self._text[node.start_mark.index : node.end_mark.index].split())
        return f"`{text if len(text) <= _SHOWN else f'{text[: _SHOWN - 1]}…'}`"


def _mending(annotated: Any, node: yaml.Node) -> str:
    """How a value that is none of this type could be one."""
    kind = _chosen(annotated, node)
    text = str(node.value) if isinstance(node, yaml.ScalarNode) else ""
    if get_origin(kind) is Literal:
        return suggest(text, [one for one in get_args(kind) if one])
    if get_origin(kind) is tuple and text:
        return f"Write a list: [{text}]."
    if kind is str and node.tag != "tag:yaml.org,2002:str" and _fits(text, annotated):
        return "YAML reads this as something other than text; put it in quotes."
    if kind is str and text.isdecimal() and _fits(f"{text}m", annotated):
        return f"Say of what: `{text}s` are seconds, `{text}m` minutes."
    return ""


def _fits(text: str, kind: Any) -> bool:
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return False
    return True


def _unknown(name: str, known: Iterable[str]) -> str:
    if name == "prompt":
        return "The prompt is the text below the frontmatter."
    return suggest(name, known) or f"There are {', '.join(known)}."


def _chosen(kind: Any, node: yaml.Node) -> Any:
    """The type without its description; of several, the one that this node could be."""
    if get_origin(kind) is Annotated:
        return _chosen(get_args(kind)[0], node)
    if get_origin(kind) in (Union, types.UnionType):
        several = [one for one in get_args(kind) if one is not type(None)]
        structs = [one for one in several if isinstance(one, type) and issubclass(one, msgspec.Struct)]
        rest = [one for one in several if one not in structs]
        fitting = structs or rest if isinstance(node, yaml.MappingNode) else rest or structs
        return _chosen(fitting[0], node)
    return kind


def _described(kind: Any) -> str:
    """What a value of this type is, for a person."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        told = [one.description for one in arguments[1:] if isinstance(one, msgspec.Meta) and one.description]
        return told[0] if told else _described(arguments[0])
    if origin is Literal:
        return f"one of {', '.join(one for one in arguments if one)}"
    if origin is tuple:
        return "a list"
    if origin in (Union, types.UnionType):
        return " or ".join(_described(one) for one in arguments if one is not type(None))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"a mapping of {', '.join(field.name for field in msgspec.structs.fields(kind))}"
    if kind is bool:
        return "true or false"
    return "a whole number" if kind is int else "text"
