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

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import FolderSettings, Hook, RuleEntry, Settings

from ..models.providers import resolve_paths, select_models
from ..state_folder import StateFolder, read_regular

#: Where the workbench listens unless told otherwise.
PORT = Settings().port
#: More than anybody sets, in bytes.
LARGEST = 1_000_000

_VARIABLES = {"CALLBOARD_PORT": "port", "CALLBOARD_BROWSER": "browser", "CALLBOARD_DEMO_PACE": "demo_pace"}

TableT = TypeVar("TableT", Settings, FolderSettings)


def load_settings(home: StateFolder, environment: Mapping[str, str], *, file: bool = True, **flags: Any) -> Settings:
    """The settings that hold, without those of the file where that is not to be read. A flag that is None was not given.

    Raises Refusal `bad_settings` naming the key and where it stands.
    """
    settings = apply_environment(read_user_settings(home.settings) if file else Settings(), environment)
    given = {key: value for key, value in flags.items() if value is not None}
    for key, value in given.items():
        settings = _with(settings, {key: value}, f"--{key}")
    return settings


def read_user_settings(path: Path) -> Settings:
    """What the user's file says; the defaults where there is none. Raises Refusal `bad_settings`."""
    try:
        source = read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        hint = "Make it a file that you may read, or move it away."
        raise Refusal(
            "bad_settings", f"{path} cannot be read: {error.strerror}.", field=path.name, hint=hint
        ) from error
    settings = convert_tables(parse_toml(source, str(path)), Settings, str(path), text=source)
    return msgspec.structs.replace(
        settings, models=tuple(resolve_paths(model, path.parent) for model in settings.models)
    )


def apply_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The settings with what the environment says over them. Raises Refusal `bad_settings`."""
    sent = {key: (name, environment[name]) for name, key in _VARIABLES.items() if environment.get(name)}
    for key, (name, value) in sent.items():
        settings = _with(settings, {key: value}, name)
    return msgspec.structs.replace(settings, models=select_models(environment, settings.models))


def parse_toml(source: bytes, name: str) -> dict[str, Any]:
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


def convert_tables(
    data: Mapping[str, Any], table: type[TableT], source: str, *, strict: bool = True, text: bytes = b""
) -> TableT:
    """The tables as the schema has them, their rules checked. Raises Refusal `bad_settings` with the place of the first thing
    that is wrong, and what it may be; `source` says where it stands, and `text` is the file, for the line."""
    try:
        settings = msgspec.convert(data, table, strict=strict)
    except msgspec.ValidationError as error:
        # Here, since what begins should begin at once.
        from .problems import conversion_refusal

        raise conversion_refusal(error, data, table, source, text) from error
    _check_rules(settings.rules, source, text)
    _check_names([one.name for one in settings.servers], "servers", source, text)
    _check_hooks(settings.hooks, source, text)
    if isinstance(settings, Settings):
        _check_names([one.name for one in settings.models], "models", source, text)
    return settings


def _check_rules(rules: tuple[RuleEntry, ...], source: str, text: bytes) -> None:
    if not rules:
        return
    # Here, since most files have none.
    from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

    from .problems import value_refusal

    for number, rule in enumerate(rules):
        try:
            check_matcher(rule.matcher)
        except InvalidMatcherError as error:
            raise value_refusal(source, ("rules", number, "matcher"), str(error), text=text) from error


def _check_hooks(hooks: tuple[Hook, ...], source: str, text: bytes) -> None:
    _check_names([one.name for one in hooks], "hooks", source, text)
    if not hooks:
        return
    from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

    from .problems import value_refusal

    for number, hook in enumerate(hooks):
        for at, matcher in enumerate(hook.tools):
            try:
                if matcher != "*":
                    check_matcher(matcher)
            except InvalidMatcherError as error:
                raise value_refusal(source, ("hooks", number, "tools", at), str(error), text=text) from error


def _check_names(names: list[str], table: str, source: str, text: bytes) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            from .problems import value_refusal

            said, hint = f"there is another one named {name}", "Give each a name of its own."
            raise value_refusal(source, (table, number, "name"), said, hint=hint, text=text)


def _with(settings: Settings, change: dict[str, Any], source: str) -> Settings:
    changed = convert_tables(change, Settings, source, strict=False)
    return msgspec.structs.replace(settings, **{key: getattr(changed, key) for key in change})
