"""Loading of settings: `settings.toml`, overridden by the environment, overridden by options.

```toml
port = 4747             # port of the workbench, or the next free one if it is taken
browser = true          # open the page if there is a display
permission_mode = "ask" # default for new turns

[[models]]              # the first available model is the default
name = "qwen"
kind = "openai-compatible"
base_url = "http://localhost:11434/v1"
model = "qwen3"
api_key_env = "MY_KEY"  # or api_key = "secret://NAME", or neither

[[rules]]
matcher = "Bash(git push *)"
verdict = "deny"
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import FolderSettings, Hook, RuleEntry, Settings, SettingsProblemCode

from ..models.providers import resolve_paths, select_models
from ..state_folder import StateFolder, read_regular
from .problems import InvalidValue, build_conversion_refusal, build_value_refusal

if TYPE_CHECKING:
    from callboard.tools.gate.rules import InvalidMatcherError

#: Default port of the workbench.
PORT = Settings().port
#: Maximum size of a settings file, in bytes.
MAX_BYTES = 1_000_000

_VARIABLES = {"CALLBOARD_PORT": "port", "CALLBOARD_BROWSER": "browser", "CALLBOARD_DEMO_PACE": "demo_pace"}

TableT = TypeVar("TableT", Settings, FolderSettings)


def load_settings(
    state_folder: StateFolder, environment: Mapping[str, str], *, file: bool = True, **flags: Any
) -> Settings:
    """Load the settings.

    Args:
        file: False ignores the settings file.
        flags: Options by setting key; None for an option that was not used.
    Raises:
        Refusal: `bad_settings`, naming the key and its location.
    """
    settings = apply_environment(read_user_settings(state_folder.settings) if file else Settings(), environment)
    for key, value in flags.items():
        if value is not None:
            settings = _apply_change(settings, {key: value}, f"--{key}")
    return settings


def read_user_settings(path: Path) -> Settings:
    """Read the user's settings file; without one, return the defaults. Raises Refusal `bad_settings`."""
    try:
        source = read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        hint = "Make it a readable file, or move it away."
        raise Refusal(
            "bad_settings",
            f"{path} cannot be read: {error.strerror}.",
            field=path.name,
            hint=hint,
            reason="file_unreadable",
            parameters={"reason": str(error.strerror)},
        ) from error
    settings = convert_tables(parse_toml(source, str(path)), Settings, str(path), text=source)
    return msgspec.structs.replace(
        settings, models=tuple(resolve_paths(model, path.parent) for model in settings.models)
    )


def apply_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """Return the settings, overridden by the environment. Raises Refusal `bad_settings`."""
    overrides = {key: (name, environment[name]) for name, key in _VARIABLES.items() if environment.get(name)}
    for key, (name, value) in overrides.items():
        settings = _apply_change(settings, {key: value}, name)
    return msgspec.structs.replace(settings, models=select_models(environment, settings.models))


def parse_toml(source: bytes, name: str) -> dict[str, Any]:
    """Parse the TOML file `name`. Raises Refusal `bad_settings`."""
    if len(source) > MAX_BYTES:
        limit = str(MAX_BYTES // 1000)
        raise _build_refusal(name, f"is larger than {limit} KB", "file_too_large", limit=limit)
    try:
        return tomllib.loads(source.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _build_refusal(name, f"is not UTF-8: {error.reason}", "not_utf8", reason=error.reason) from error
    except tomllib.TOMLDecodeError as error:
        raise _build_refusal(name, f"is not TOML: {error}", "not_toml", reason=str(error)) from error
    except RecursionError as error:
        raise _build_refusal(name, "is nested too deeply", "too_deep") from error


def _build_refusal(name: str, message: str, code: SettingsProblemCode, **parameters: str) -> Refusal:
    return Refusal(
        "bad_settings",
        f"{name} {message}.",
        field=name.rpartition("/")[2],
        hint="Fix it, or move it away: without it the defaults apply.",
        reason=code,
        parameters=parameters,
    )


def convert_tables(
    data: Mapping[str, Any], table: type[TableT], source: str, *, strict: bool = True, text: bytes = b""
) -> TableT:
    """Convert tables to settings, and check their rules and names.

    Args:
        source: File, variable or option, for messages.
        text: Content of the file, for line numbers.
    Raises:
        Refusal: `bad_settings`, with the location of the first error and the accepted values.
    """
    try:
        settings = msgspec.convert(data, table, strict=strict)
    except msgspec.ValidationError as error:
        raise build_conversion_refusal(error, data, table, source, text) from error
    _check_rules(settings.rules, source, text)
    _check_names([server.name for server in settings.servers], "servers", source, text)
    _check_hooks(settings.hooks, source, text)
    if isinstance(settings, Settings):
        _check_names([model.name for model in settings.models], "models", source, text)
    return settings


def _check_rules(rules: tuple[RuleEntry, ...], source: str, text: bytes) -> None:
    if not rules:
        return
    # A local import: most files have no rules.
    from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

    for number, rule in enumerate(rules):
        try:
            check_matcher(rule.matcher)
        except InvalidMatcherError as error:
            raise build_value_refusal(
                source, ("rules", number, "matcher"), _convert_matcher_error(error), text=text
            ) from error


def _check_hooks(hooks: tuple[Hook, ...], source: str, text: bytes) -> None:
    _check_names([hook.name for hook in hooks], "hooks", source, text)
    if not hooks:
        return
    from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

    for number, hook in enumerate(hooks):
        for at, matcher in enumerate(hook.tools):
            try:
                if matcher != "*":
                    check_matcher(matcher)
            except InvalidMatcherError as error:
                raise build_value_refusal(
                    source, ("hooks", number, "tools", at), _convert_matcher_error(error), text=text
                ) from error


def _convert_matcher_error(error: InvalidMatcherError) -> InvalidValue:
    return InvalidValue(str(error), error.code, error.parameters)


def _check_names(names: list[str], table: str, source: str, text: bytes) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            invalid = InvalidValue(f"the name {name} is used twice", "duplicate_name", {"name": name})
            hint = "Give each entry a unique name."
            raise build_value_refusal(source, (table, number, "name"), invalid, hint=hint, text=text)


def _apply_change(settings: Settings, change: dict[str, Any], source: str) -> Settings:
    changed = convert_tables(change, Settings, source, strict=False)
    return msgspec.structs.replace(settings, **{key: getattr(changed, key) for key in change})
