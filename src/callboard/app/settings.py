"""What a person can set, as `contracts.settings` says it: `settings.toml`, over it the environment, over it the flags of a
command.

```toml
port = 4747             # where the workbench listens; the next free one where it is taken
browser = true          # open it when there is a display
permission_mode = "ask" # that of a turn for which nobody chose one

[[models]]              # the first is asked where an agent names none
name = "qwen"
kind = "openai-compatible"
base_url = "http://localhost:11434/v1"
model = "qwen3"
api_key_env = "MY_KEY"  # or api_key = "secret://NAME"; neither where the server asks for none

[[rules]]
matcher = "Bash(git push *)"
verdict = "deny"
```
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import FolderSettings, RuleEntry, Settings

from .home import Home
from .providers import beside, from_environment

#: Where the workbench listens unless told otherwise.
PORT = Settings().port
#: More than anybody sets, in bytes.
LARGEST = 1_000_000

_VARIABLES = {"CALLBOARD_PORT": "port", "CALLBOARD_BROWSER": "browser", "CALLBOARD_DEMO_PACE": "demo_pace"}
_PLACE = re.compile(r"^(?P<said>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_NAMED = re.compile(r"^Object (?P<what>contains unknown|missing required) field `(?P<name>.*)`$", re.DOTALL)
_INDEX = re.compile(r"\[(\d+)\]")

TableT = TypeVar("TableT", Settings, FolderSettings)


def load(home: Home, environment: Mapping[str, str], **flags: Any) -> Settings:
    """The settings that hold. A flag that is None was not given.

    Raises Refusal `bad_settings` naming the key and where it stands.
    """
    settings = over(of_file(home.settings), environment)
    given = {key: value for key, value in flags.items() if value is not None}
    for key, value in given.items():
        settings = _with(settings, {key: value}, f"--{key}")
    return settings


def of_file(path: Path) -> Settings:
    """What the user's file says; the defaults where there is none. Raises Refusal `bad_settings`."""
    try:
        source = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        hint = "Make it a file that you may read, or move it away."
        raise Refusal(
            "bad_settings", f"{path} cannot be read: {error.strerror}.", field=path.name, hint=hint
        ) from error
    settings = converted(parsed(source, str(path)), Settings, str(path))
    return msgspec.structs.replace(settings, models=tuple(beside(model, path.parent) for model in settings.models))


def over(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The settings with what the environment says over them. Raises Refusal `bad_settings`."""
    sent = {key: (name, environment[name]) for name, key in _VARIABLES.items() if environment.get(name)}
    for key, (name, value) in sent.items():
        settings = _with(settings, {key: value}, name)
    return msgspec.structs.replace(settings, models=from_environment(environment, settings.models))


def parsed(source: bytes, name: str) -> dict[str, Any]:
    """The tables of a TOML file; `name` says which. Raises Refusal `bad_settings`."""
    field = name.rpartition("/")[2]
    hint = "Mend it, or move it away: without it the defaults hold."
    if len(source) > LARGEST:
        raise Refusal("bad_settings", f"{name} is larger than {LARGEST // 1000} KB.", field=field, hint=hint)
    try:
        return tomllib.loads(source.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal("bad_settings", f"{name} is not UTF-8: {error.reason}.", field=field, hint=hint) from error
    except tomllib.TOMLDecodeError as error:
        raise Refusal("bad_settings", f"{name} is not TOML: {error}.", field=field, hint=hint) from error
    except RecursionError as error:
        raise Refusal("bad_settings", f"{name} is nested too deeply.", field=field, hint=hint) from error


def converted(data: Mapping[str, Any], table: type[TableT], source: str, *, strict: bool = True) -> TableT:
    """The tables as the schema has them, their rules checked. Raises Refusal `bad_settings` with the place of the first thing
    that is wrong; `source` says where it stands."""
    try:
        settings = msgspec.convert(data, table, strict=strict)
    except msgspec.ValidationError as error:
        raise _bad(str(error), source) from error
    _check_rules(settings.rules, source)
    _check_names([one.name for one in settings.servers], "servers", source)
    if isinstance(settings, Settings):
        _check_names([one.name for one in settings.models], "models", source)
    return settings


def _check_rules(rules: tuple[RuleEntry, ...], source: str) -> None:
    if not rules:
        return
    # Here, since most files have none and what begins should begin at once.
    from callboard.tools.rules import BadMatcher, check

    for number, rule in enumerate(rules):
        try:
            check(rule.matcher)
        except BadMatcher as error:
            field = f"rules.{number}.matcher"
            raise Refusal("bad_settings", f"{source} at `{field}`: {error}.", field=field) from error


def _check_names(names: list[str], table: str, source: str) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            field = f"{table}.{number}.name"
            message = f"{source} at `{field}`: there is another one named {name}."
            raise Refusal("bad_settings", message, field=field, hint="Give each a name of its own.")


def _with(settings: Settings, change: dict[str, Any], source: str) -> Settings:
    changed = converted(change, Settings, source, strict=False)
    return msgspec.structs.replace(settings, **{key: getattr(changed, key) for key in change})


def _bad(text: str, source: str) -> Refusal:
    found = _PLACE.match(text)
    said, path = (found["said"], found["path"] or "") if found else (text, "")
    path = _INDEX.sub(r".\1", path)
    named = _NAMED.match(said)
    if named:
        path = f"{path}.{named['name']}" if path else named["name"]
        said = "this key is unknown" if named["what"] == "contains unknown" else "this key is missing"
    at = f" at `{path}`" if path and not source.startswith(("CALLBOARD_", "--")) else ""
    return Refusal(
        "bad_settings",
        f"{source}{at}: {said[:1].lower()}{said[1:]}.",
        field=path if at else source,
        hint="`callboard up --help` tells what can be set.",
    )
