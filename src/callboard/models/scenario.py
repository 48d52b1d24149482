"""Scenario files: the model's side of a conversation, in YAML.

```yaml
name: a-report                # name of the model in facts; default: the file's name
chunk: 12                     # default for parts; default: 0
delay_ms: 30                  # default for parts; default: 0
window: 8000                  # context window in tokens; default: unknown
images: true                  # the model accepts images; default: false
calls:                        # calls of every agent, in order
  - - reasoning: I should look first.
    - text: Let me read it.
    - tool: {name: Read, arguments: {file_path: notes.md}}
    - usage: {input: 1200, output: 80, cached: 1000, reasoning: 20}
  - - text: It prints hello.
agents:                       # calls of one agent, in place of `calls`
  reviewer:
    - - text: Looks good.
match:                        # calls of a turn whose input contains a text, ignoring case and ids; the first match applies
  - text: write the report
    agent: lead               # only for this agent; default: any
    calls:
      - - pause: 500
        - tool: {name: create_task, arguments: {title: The report}}
      - - tool: {name: Write, arguments: {file_path: report.md, content: "# Report"}}
      - - tool: {name: update_task, arguments: {task_id: "{create_task[0].task_id}", status: done}}
      - - text: Written.
```

A call is a list of parts. A part with `if_done: TOOL` is sent only if the latest call of that tool succeeded; a part with
`if_not_done: TOOL` only if that call was refused, failed, was stopped or was never made. Each part has exactly one of:

`text`, `reasoning`
:   Text of the response, sent in pieces of `chunk` characters (0: the whole text in one piece), each after `delay_ms`.
`tool`
:   A tool call with `name` and `arguments`: a mapping, or a text that is sent unchanged. `chunk` and `delay_ms` apply to the
    arguments. In a mapping, a text `{TOOL[N].FIELD}` is replaced with that field of the tool's result number N, from 0, and
    `{input}` in a text with the input of the turn.
`repeat: {text, times}`
:   A long text of `times` pieces, each after `delay_ms`.
`pause: MS`
:   Wait, in milliseconds.
`wait_for: PATH`
:   Wait until the file exists. Relative paths start at the scenario's folder.
`usage: {input, output, cached, reasoning}`, `stop: REASON`
:   Usage and stop reason of the response. The default reason is `tool_calls` after a tool call, else `stop`.
`fail: {code, message, retryable, retry_after, attempts}`
:   The call fails here with a `model_…` code; with `attempts: N` only in its first N attempts.
`cut: true`
:   The stream is interrupted here.

The call depends on the request only, so a restart does not change it. In `calls` and `agents` its number is the number of
assistant messages in the conversation. A call without a message is therefore repeated, and after a summary the list starts
again. A list under `match` starts in each turn, and its number is the run's iteration. A call after the end of a list fails.
Summaries are calls of the agent `compaction`.
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
#: LibYAML's loader if available: the Python loader takes a second for a long scenario.
_LOADER = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
_PACED = {"text", "reasoning", "tool", "repeat"}


class Tool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] | str = {}


class Repeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    times: int


class ScenarioUsage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reported tokens. A missing field is not reported."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


class Fail(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    code: Code
    message: str = "requested by the scenario"
    retryable: bool = False
    retry_after: float | None = None
    attempts: int | None = None

    def __post_init__(self) -> None:
        if not self.code.startswith("model_"):
            raise ValueError(f"invalid code {self.code!r}: codes of model failures start with `model_`")


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a call. Exactly one kind is set. Times are in milliseconds, chunks in characters."""

    text: str | None = None
    reasoning: str | None = None
    tool: Tool | None = None
    repeat: Repeat | None = None
    pause: float | None = None
    wait_for: str | None = None
    usage: ScenarioUsage | None = None
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
            names = " and ".join(kinds) or "none"
            raise ValueError(f"a part must have exactly one of {', '.join(_KINDS)}; this one has {names}")
        if kinds[0] not in _PACED and (self.delay_ms is not None or self.chunk is not None):
            raise ValueError(f"`{kinds[0]}` cannot have `delay_ms` or `chunk`")
        if min(self.delay_ms or 0, self.chunk or 0, self.pause or 0) < 0:
            raise ValueError("`delay_ms`, `chunk` and `pause` must not be negative")


Call = tuple[Part, ...]


class MatchedStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    calls: tuple[Call, ...]
    agent: str = ""


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a scenario file."""

    name: str = ""
    chunk: int = 0
    delay_ms: float = 0
    window: int | None = None
    images: bool = False
    calls: tuple[Call, ...] = ()
    agents: dict[str, tuple[Call, ...]] = {}
    match: tuple[MatchedStep, ...] = ()


def load(path: Path) -> Scenario:
    """Load a scenario; its default name is the file's. Raises Refusal `bad_scenario`."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(
            "bad_scenario",
            f"{path} is not a readable scenario: {error}",
            hint="Name a readable scenario file in UTF-8.",
        ) from None
    scenario = parse(text, str(path))
    return scenario if scenario.name else msgspec.structs.replace(scenario, name=path.stem)


def parse(text: str, file: str) -> Scenario:
    """Parse a scenario. Raises Refusal `bad_scenario`.

    Args:
        file: Name of the file, for errors.
    """
    try:
        data: object = yaml.load(text, Loader=_LOADER) or {}  # noqa: S506 both are safe loaders
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _build_refusal(file, mark.line + 1 if mark else 1, "", error.problem or "not YAML") from None
    except yaml.YAMLError as error:
        raise _build_refusal(file, 1, "", str(error)) from None

    def read(value: object, into: Callable[[object], _T], at: str) -> _T:
        try:
            return into(value)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$")
            field = f"{at}{path.rstrip('`')}".lstrip(".")
            raise _build_refusal(file, _find_line(_parse_nodes(text), field), field, message) from None

    if not isinstance(data, dict):
        return read(data, lambda value: msgspec.convert(value, Scenario), "")
    fields = cast("dict[object, object]", data)
    by_agent = read(fields.pop("agents", {}), lambda value: msgspec.convert(value, dict[str, object]), ".agents")
    scenario = read(fields, lambda value: msgspec.convert(value, Scenario), "")
    agents = {
        # Converted one by one: for a mapping the error would not name the key.
        name: read(calls, lambda value: msgspec.convert(value, tuple[Call, ...]), f".agents.{name}")
        for name, calls in by_agent.items()
    }
    return msgspec.structs.replace(scenario, agents=agents)


def _build_refusal(file: str, line: int, field: str, message: str) -> Refusal:
    at = f" at `{field}`" if field else ""
    return Refusal(
        "bad_scenario",
        f"{file}:{line}: {message}{at}",
        field=field,
        hint="See the documentation of callboard.models.scenario for the format.",
    )


def _parse_nodes(text: str) -> yaml.Node | None:
    """Parse the text again after an error: only nodes have lines."""
    compose = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
    return compose(text, yaml.SafeLoader)


def _find_line(node: yaml.Node | None, field: str) -> int:
    """Return the line, from 1, of the innermost existing node of a field path such as `calls[0][1].tool`."""
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
