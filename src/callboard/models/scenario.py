"""The scenario file: a model's side of a conversation, written down.

```yaml
name: a-report                # stands in the facts as the model's name; default: the file's name
chunk: 12                     # what parts have that name none of their own; default: 0
delay_ms: 30
window: 8000                  # how many tokens it takes; default: nobody knows
images: true                  # that it can be shown images; default: false
calls:                        # what any agent says, call by call
  - - reasoning: I should look first.
    - text: Let me read it.
    - tool: {name: Read, arguments: {file_path: notes.md}}
    - usage: {input: 1200, output: 80, cached: 1000, reasoning: 20}
  - - text: It says hello.
agents:                       # what one agent says instead
  reviewer:
    - - text: Looks good.
match:                        # what is said in a turn whose input holds this text (not within an id), in any case; the first
  - text: write the report
    agent: lead               # only to this agent; default: to any
    calls:
      - - pause: 500
        - tool: {name: create_task, arguments: {title: The report}}
      - - tool: {name: Write, arguments: {file_path: report.md, content: "# Report"}}
      - - tool: {name: update_task, arguments: {task_id: "{create_task[0].task_id}", status: done}}
      - - text: Written.
```

A call is a list of parts. One with `if_done: TOOL` is played only where the latest call of that tool in the conversation did
what it was to do, one with `if_not_done: TOOL` only where it was refused, failed, was stopped or never made. Each part has
exactly one of these:

`text`, `reasoning`
:   words of the answer, sent in pieces of `chunk` characters (0: at once) with `delay_ms` before each.
`tool`
:   a tool call: `name` and `arguments`, a mapping, or a text that is sent as it is. Its arguments take `chunk` and `delay_ms`.
    In a mapping, a text that is only `{TOOL[N].FIELD}` is that field of the tool's result number N in the conversation, from 0,
    and `{input}` in a text is what the turn was asked.
`repeat: {text, times}`
:   one long text of `times` pieces; `delay_ms` beside it comes before each.
`pause: MS`
:   nothing is sent for so many milliseconds.
`wait_for: PATH`
:   nothing more is sent until that file exists. A relative path starts at the scenario's folder.
`usage: {input, output, cached, reasoning}`, `stop: REASON`
:   what the end of the answer tells. The reason is `tool_calls` where a tool is called, else `stop`.
`fail: {code, message, retryable, retry_after, attempts}`
:   the call fails here with one of the `model_…` codes; with `attempts: N` only its first N attempts do.
`cut: true`
:   the stream ends here without an end.

Which call is played depends on the request alone, so the same one is played again after a restart. In `calls` and `agents`
it is the one after as many as there are messages of the assistant in the conversation; a call that left none behind is played
again, and a summary takes those before it away, so that the list is played again from there. A list under `match` is played
from its start in each turn, by the run's iteration, and loses its place through nothing. Past its end a list has nothing to
say, which is a failure. What makes summaries is the agent `compaction`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import yaml

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.model import StopReason

_T = TypeVar("_T")
_KINDS = ("text", "reasoning", "tool", "repeat", "pause", "wait_for", "usage", "stop", "fail", "cut")
#: LibYAML's where there is one, since a long scenario takes the other a second.
_LOADER = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
_PACED = {"text", "reasoning", "tool", "repeat"}


class Tool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] | str = {}


class Repeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    times: int


class ScenarioMessages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens, each absent where the model is to tell nothing."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


class Fail(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    code: Code
    message: str = "the scenario says so"
    retryable: bool = False
    retry_after: float | None = None
    attempts: int | None = None

    def __post_init__(self) -> None:
        if not self.code.startswith("model_"):
            raise ValueError(f"{self.code!r} is no failure of a model; those begin with `model_`")


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part of a call; exactly one of its kinds is set. Times are in milliseconds, chunks in characters."""

    text: str | None = None
    reasoning: str | None = None
    tool: Tool | None = None
    repeat: Repeat | None = None
    pause: float | None = None
    wait_for: str | None = None
    usage: ScenarioMessages | None = None
    stop: StopReason | None = None
    fail: Fail | None = None
    cut: bool | None = None
    delay_ms: float | None = None
    chunk: int | None = None
    if_done: str | None = None
    if_not_done: str | None = None

    def __post_init__(self) -> None:
        kinds = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(f"a part has exactly one of {', '.join(_KINDS)}; this has {' and '.join(kinds) or 'none'}")
        if kinds[0] not in _PACED and (self.delay_ms is not None or self.chunk is not None):
            raise ValueError(f"`{kinds[0]}` takes neither `delay_ms` nor `chunk`")
        if min(self.delay_ms or 0, self.chunk or 0, self.pause or 0) < 0:
            raise ValueError("`delay_ms`, `chunk` and `pause` are not negative")


Call = tuple[Part, ...]


class MatchedStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    calls: tuple[Call, ...]
    agent: str = ""


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario as its file says it."""

    name: str = ""
    chunk: int = 0
    delay_ms: float = 0
    window: int | None = None
    images: bool = False
    calls: tuple[Call, ...] = ()
    agents: dict[str, tuple[Call, ...]] = {}
    match: tuple[MatchedStep, ...] = ()


def load(path: Path) -> Scenario:
    """The scenario in this file, named after it where it has no name. Raises Refusal `bad_scenario`."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("bad_scenario", f"{path} cannot be read as a scenario: {error}") from None
    scenario = parse(text, str(path))
    return scenario if scenario.name else msgspec.structs.replace(scenario, name=path.stem)


def parse(text: str, file: str) -> Scenario:
    """The scenario of this text; `file` is what errors call it. Raises Refusal `bad_scenario`."""
    try:
        data: object = yaml.load(text, Loader=_LOADER) or {}  # noqa: S506 both are safe loaders
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _bad(file, mark.line + 1 if mark else 1, "", error.problem or "not YAML") from None
    except yaml.YAMLError as error:
        raise _bad(file, 1, "", str(error)) from None

    def read(value: object, into: Callable[[object], _T], at: str) -> _T:
        try:
            return into(value)
        except msgspec.ValidationError as error:
            said, _, where = str(error).partition(" - at `$")
            field = f"{at}{where.rstrip('`')}".lstrip(".")
            raise _bad(file, _line(_nodes(text), field), field, said) from None

    if not isinstance(data, dict):
        return read(data, lambda value: msgspec.convert(value, Scenario), "")
    fields = cast("dict[object, object]", data)
    by_agent = read(fields.pop("agents", {}), lambda value: msgspec.convert(value, dict[str, object]), ".agents")
    scenario = read(fields, lambda value: msgspec.convert(value, Scenario), "")
    agents = {
        # Read one by one: of a mapping the decoder would not say which key is wrong.
        name: read(calls, lambda value: msgspec.convert(value, tuple[Call, ...]), f".agents.{name}")
        for name, calls in by_agent.items()
    }
    return msgspec.structs.replace(scenario, agents=agents)


def _bad(file: str, line: int, field: str, said: str) -> Refusal:
    at = f" at `{field}`" if field else ""
    return Refusal(
        "bad_scenario",
        f"{file}:{line}: {said}{at}",
        field=field,
        hint="The format is described in the documentation of callboard.models.scenario.",
    )


def _nodes(text: str) -> yaml.Node | None:
    """What is parsed anew where something is wrong, since only the nodes know their lines."""
    compose = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
    return compose(text, yaml.SafeLoader)


def _line(node: yaml.Node | None, field: str) -> int:
    """The line, from 1, of the innermost node on the way to the field, such as `calls[0][1].tool`."""
    line = 1
    for step in re.findall(r"\[(\d+)\]|\.?([^.\[\]]+)", field):
        match node:
            case yaml.SequenceNode() if step[0]:
                node = node.value[int(step[0])]
            case yaml.MappingNode() if step[1]:
                node = next((value for key, value in node.value if key.value == step[1]), None)
            case _:
                break
        if node is None:
            break
        line = node.start_mark.line + 1
    return line
