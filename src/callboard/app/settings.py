"""What a person can set, in one schema: `settings.toml`, over it the environment, over it the flags of a command.

```toml
port = 4747             # where the workbench listens; the next free one where it is taken
browser = true          # open it when there is a display
demo_pace = 1.0         # how long the agents of demos take to speak; 0 for not at all

[[models]]              # the first is asked where an agent names none
name = "qwen"
kind = "openai-compatible"
base_url = "http://localhost:11434/v1"
model = "qwen3"
api_key_env = "MY_KEY"  # or api_key = "…"; neither where the server asks for none

[[models]]
name = "rehearsal"
kind = "scripted"
scenario = "rehearsal.yaml"  # relative to this file
```
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import Settings

from .home import Home
from .providers import beside, from_environment

#: Where the workbench listens unless told otherwise.
PORT = Settings().port

_VARIABLES = {"CALLBOARD_PORT": "port", "CALLBOARD_BROWSER": "browser", "CALLBOARD_DEMO_PACE": "demo_pace"}
_PLACE = re.compile(r"^(?P<said>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_NAMED = re.compile(r"^Object (?P<what>contains unknown|missing required) field `(?P<name>.*)`$", re.DOTALL)
_INDEX = re.compile(r"\[(\d+)\]")


def load(home: Home, environment: Mapping[str, str], **flags: Any) -> Settings:
    """The settings that hold. A flag that is None was not given.

    Raises Refusal `bad_settings` naming the key and where it stands.
    """
    settings = _from_file(home.settings)
    sent = {key: (name, environment[name]) for name, key in _VARIABLES.items() if environment.get(name)}
    for key, (name, value) in sent.items():
        settings = _with(settings, {key: value}, name)
    given = {key: value for key, value in flags.items() if value is not None}
    for key, value in given.items():
        settings = _with(settings, {key: value}, f"--{key}")
    return msgspec.structs.replace(settings, models=from_environment(environment, settings.models))


def _from_file(path: Path) -> Settings:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("bad_settings", f"{path} cannot be read: {error}", field=path.name) from error
    except tomllib.TOMLDecodeError as error:
        raise Refusal("bad_settings", f"{path} is not TOML: {error}", field=path.name) from error
    settings = _convert(data, str(path), strict=True)
    return msgspec.structs.replace(settings, models=tuple(beside(model, path.parent) for model in settings.models))


def _with(settings: Settings, change: dict[str, Any], source: str) -> Settings:
    converted = _convert(change, source, strict=False)
    return msgspec.structs.replace(settings, **{key: getattr(converted, key) for key in change})


def _convert(data: dict[str, Any], source: str, *, strict: bool) -> Settings:
    try:
        return msgspec.convert(data, Settings, strict=strict)
    except msgspec.ValidationError as error:
        raise _bad(str(error), source) from error


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
