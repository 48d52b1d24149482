from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.app.hosting.announcement import find_endpoint
from callboard.app.models.providers import build_providers, resolve_key
from callboard.app.settings.loader import PORT, load_settings
from callboard.app.state_folder import StateFolder, write_file
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.settings import (
    AnthropicModel,
    CompatibleModel,
    GoogleModel,
    OpenAIModel,
    ScriptedModel,
    Settings,
)

KINDS = "openai-compatible, openai, anthropic, google, scripted, recorded"


@pytest.fixture
def state_folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path)


def refused(state_folder: StateFolder, environment: dict[str, str] | None = None, **flags: Any) -> Problem:
    with pytest.raises(Refusal) as caught:
        load_settings(state_folder, environment or {}, **flags)
    return caught.value.problem


def test_without_a_file_variable_or_flag_the_defaults_apply(state_folder: StateFolder):
    assert load_settings(state_folder, {}) == Settings(port=PORT, browser=True, models=())


def test_a_flag_overrides_a_variable_and_a_variable_the_file(state_folder: StateFolder):
    state_folder.settings.write_text("port = 1000\nbrowser = true\n")
    assert load_settings(state_folder, {}).port == 1000
    assert load_settings(state_folder, {"CALLBOARD_PORT": "2000", "CALLBOARD_BROWSER": "false"}) == Settings(
        port=2000, browser=False
    )
    assert load_settings(state_folder, {"CALLBOARD_PORT": "2000"}, port=3000, browser=None).port == 3000


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("a pipe", "It is not a regular file"),
        ("a link to a device", "It is not a regular file"),
        ("a folder", "Is a directory"),
    ],
)
async def test_an_irregular_file_is_refused_without_waiting(state_folder: StateFolder, kind: str, reason: str):
    """D6: opening a pipe waits for its writer, and a device has no end."""
    for path in (state_folder.settings, state_folder.endpoint):
        match kind:
            case "a pipe":
                os.mkfifo(path)
            case "a link to a device":
                path.symlink_to("/dev/zero")
            case _:
                path.mkdir()

    problem = refused(state_folder)

    assert (problem.code, problem.field) == ("bad_settings", "settings.toml")
    assert problem.message.endswith(f"settings.toml cannot be read: {reason}.")
    assert await find_endpoint(state_folder) is None


@pytest.mark.parametrize(
    ("key", "above"),
    [('permission_mode = "full"', True), ('fallback = ["m"]', True), ("retry = 3", False), ("colour = 3", False)],
)
def test_a_top_level_key_within_a_table_is_reported_with_its_place(state_folder: StateFolder, key: str, *, above: bool):
    """SAFE-05: TOML assigns a key at the end of the file to the last table."""
    state_folder.settings.write_text(f'[[models]]\nname = "m"\nkind = "openai"\nmodel = "m"\n{key}\n')
    problem = refused(state_folder)
    assert ("it belongs above the first [table]" in problem.message) == above


def test_an_unknown_key_is_an_error_that_names_the_key_and_the_file(state_folder: StateFolder):
    """SAFE-05"""
    state_folder.settings.write_text("prot = 1\n")
    problem = refused(state_folder)
    assert (problem.code, problem.field) == ("bad_settings", "prot")
    keys = ", ".join(Settings.__struct_fields__)
    assert problem.message == f"{state_folder.settings}, line 1, at `prot`: this key is unknown; known keys: {keys}."
    assert problem.hint == "See docs/settings.md."


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ("port = 'x'\n", "port", "expected `int`, got `str`"),
        ("port = 70000\n", "port", "expected `int` <= 65535"),
        (
            "[[models]]\nname = 'a'\n",
            "models.0.kind",
            f"line 1, at `models.0.kind`: this key is missing; use one of {KINDS}.",
        ),
        (
            "[[models]]\nkind = 'magic'\n",
            "models.0.kind",
            f'line 2, at `models.0.kind`: found "magic"; use one of {KINDS}.',
        ),
        (
            "port = 1\n\n[[servers]]\ntransport = 'pipe'\n",
            "servers.0.transport",
            'line 4, at `servers.0.transport`: found "pipe"; use one of stdio, http.',
        ),
        (
            "[[rules]]\nmatcher = 'Bash'\nverdict = 'no'\n",
            "rules.0.verdict",
            'line 3, at `rules.0.verdict`: found "no"; use one of allow, ask, deny.',
        ),
        ("permission_mode = 'x'\n", "permission_mode", 'found "x"; use one of ask, edits, full, planning.'),
        ("[shell]\nmemory = 1\n", "shell.memory", "line 2, at `shell.memory`: expected `int` >= 64, found 1."),
        (
            "[[rules]]\nmatcher = 'Bash('\nverdict = 'deny'\n",
            "rules.0.matcher",
            "line 2, at `rules.0.matcher`: use `Tool`",
        ),
        (
            "[[servers]]\ntransport = 'stdio'\nname = 'a'\ncommand = ['a']\nenv = { A = 1 }\n",
            "servers.0.env",
            "line 5, at `servers.0.env`: one of its values: expected `str`",
        ),
        ("[[models]]\nkind = 'openai-compatible'\nname = 'a'\nbase_url = 'http://x'\n", "models.0.model", "missing"),
        (
            "[[models]]\nkind = 'openai-compatible'\nname = 'a'\nbase_url = 'x'\nmodel = 'm'\n",
            "models.0.base_url",
            "line 4, at `models.0.base_url`: expected `str` that begins with http:// or https://",
        ),
    ],
)
def test_a_bad_value_is_an_error_that_names_its_place_and_what_was_expected(
    state_folder: StateFolder, text: str, field: str, message: str
):
    """SAFE-05"""
    state_folder.settings.write_text(text)
    problem = refused(state_folder)
    assert (problem.code, problem.field) == ("bad_settings", field)
    assert message in problem.message
    assert str(state_folder.settings) in problem.message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("models = [\n  { name = 'a', kind = 'openai', model = 'm' },\n  { name = 'b' },\n]\n", 1),
        ("# a line\n\nfallback = [\n  'a b',\n]\n[shell]\nnetwork = true\n", 3),
        ("browser = true\n[context]\ninstructions = ['A']\n\n# as it is\ncompact_at = 3\n", 6),
    ],
)
def test_the_line_is_the_one_on_which_the_value_begins(state_folder: StateFolder, text: str, line: int):
    """SAFE-05"""
    state_folder.settings.write_text(text)
    assert f"{state_folder.settings}, line {line}, at " in refused(state_folder).message


def test_a_line_that_takes_too_long_to_find_is_omitted(state_folder: StateFolder):
    """SAFE-05: files of untrusted folders are read too, and must not delay the process."""
    state_folder.settings.write_text("permission_mode = '''" + "x\n" * 20_000 + "'''\n")
    assert refused(state_folder).message.startswith(f"{state_folder.settings} at `permission_mode`: found ")


def test_a_value_that_may_be_a_secret_is_not_quoted(state_folder: StateFolder):
    """SAFE-03"""
    state_folder.settings.write_text("[[models]]\nkind = 'openai'\nname = 'a'\nmodel = 'm'\napi_key = 123456789\n")
    problem = refused(state_folder)
    assert problem.field == "models.0.api_key"
    assert "123456789" not in problem.message


def test_a_file_that_is_not_toml_is_an_error_that_names_the_line(state_folder: StateFolder):
    """SAFE-05"""
    state_folder.settings.write_text("port = 1\nport =\n")
    problem = refused(state_folder)
    assert problem.code == "bad_settings"
    assert "line 2" in problem.message


@pytest.mark.parametrize(
    ("environment", "flags", "field"),
    [({"CALLBOARD_PORT": "many"}, {}, "CALLBOARD_PORT"), ({}, {"port": 70000}, "--port")],
)
def test_a_bad_variable_or_flag_is_an_error_that_names_it(
    state_folder: StateFolder, environment: dict[str, str], flags: dict[str, object], field: str
):
    """SAFE-05"""
    assert refused(state_folder, environment, **flags).field == field


def test_models_keep_the_order_of_the_file_unless_one_is_named(state_folder: StateFolder):
    state_folder.settings.write_text(
        "[[models]]\nname = 'big'\nkind = 'openai-compatible'\nbase_url = 'http://x/v1'\nmodel = 'm'\napi_key = 'k'\n"
        "[[models]]\nname = 'play'\nkind = 'scripted'\nscenario = 'play.yaml'\n"
    )
    big = CompatibleModel(name="big", base_url="http://x/v1", model="m", api_key="k")
    play = ScriptedModel(name="play", scenario=str(state_folder.folder / "play.yaml"))
    assert load_settings(state_folder, {}).models == (big, play)
    assert load_settings(state_folder, {"CALLBOARD_MODEL": "play"}).models == (play, big)
    assert load_settings(state_folder, {"OPENAI_API_KEY": "k"}).models == (big, play)


def test_an_endpoint_of_the_environment_needs_a_model_name(state_folder: StateFolder):
    problem = refused(state_folder, {"CALLBOARD_BASE_URL": "http://localhost:11434/v1"})
    assert (problem.code, problem.field) == ("bad_settings", "CALLBOARD_MODEL")
    models = load_settings(
        state_folder, {"CALLBOARD_BASE_URL": "http://localhost:11434/v1", "CALLBOARD_MODEL": "qwen3"}
    ).models
    assert models == (CompatibleModel(name="localhost:11434", base_url="http://localhost:11434/v1", model="qwen3"),)


def test_a_server_without_a_key_can_use_the_variable_of_other_tools(state_folder: StateFolder):
    models = load_settings(
        state_folder, {"OPENAI_BASE_URL": "http://localhost:1234/v1", "CALLBOARD_MODEL": "qwen3"}
    ).models
    assert models == (CompatibleModel(name="localhost:1234", base_url="http://localhost:1234/v1", model="qwen3"),)


def test_a_key_of_openai_is_sent_only_to_its_own_address(state_folder: StateFolder):
    key = {"OPENAI_API_KEY": "sk-1"}
    (openai,) = load_settings(state_folder, key).models
    assert openai == OpenAIModel(name="openai", model="gpt-5.4-mini", api_key_env="OPENAI_API_KEY")
    elsewhere = {**key, "CALLBOARD_BASE_URL": "http://other/v1", "CALLBOARD_MODEL": "m"}
    (other,) = load_settings(state_folder, elsewhere).models
    assert isinstance(other, CompatibleModel)
    assert resolve_key(other, elsewhere) == ""


def test_each_vendor_key_adds_a_model_in_the_order_of_vendors(state_folder: StateFolder):
    keys = {"GOOGLE_API_KEY": "g", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
    openai = OpenAIModel(name="openai", model="gpt-5.4-mini", api_key_env="OPENAI_API_KEY")
    anthropic = AnthropicModel(name="anthropic", model="claude-sonnet-5-5", api_key_env="ANTHROPIC_API_KEY")
    google = GoogleModel(name="google", model="gemini-3.8-flash", api_key_env="GOOGLE_API_KEY")
    assert load_settings(state_folder, keys).models == (openai, anthropic, google)
    both = load_settings(state_folder, {**keys, "GEMINI_API_KEY": "e"}).models
    assert both == (openai, anthropic, msgspec.structs.replace(google, api_key_env="GEMINI_API_KEY"))
    wanted = msgspec.structs.replace(anthropic, model="claude-opus-5-5")
    assert load_settings(state_folder, {**keys, "CALLBOARD_MODEL": "claude-opus-5-5"}).models == (
        wanted,
        openai,
        google,
    )


def test_a_model_without_its_key_is_omitted_if_another_is_usable():
    listed = (
        AnthropicModel(name="claude", model="c"),
        CompatibleModel(name="local", base_url="http://x/v1", model="m"),
    )
    claude, local = build_providers(listed, {})
    assert claude.missing == "The key of the model claude comes from ANTHROPIC_API_KEY, which is not set."
    assert (local.missing, build_providers(listed, {"ANTHROPIC_API_KEY": "k"})[0].api_key) == ("", "k")
    with pytest.raises(Refusal) as caught:
        build_providers(listed[:1], {})
    assert caught.value.code == "bad_settings"


def test_a_model_name_without_an_endpoint_is_an_error(state_folder: StateFolder):
    assert refused(state_folder, {"CALLBOARD_MODEL": "qwen3"}).field == "CALLBOARD_MODEL"


def test_the_representation_of_a_model_omits_its_key():
    model = CompatibleModel(name="a", base_url="http://x", model="m", api_key="secret-1")
    assert "secret-1" not in repr(Settings(models=(model,)))


def test_a_key_from_an_unset_variable_is_an_error():
    model = CompatibleModel(name="a", base_url="http://x", model="m", api_key_env="MY_KEY")
    assert resolve_key(model, {"MY_KEY": "k"}) == "k"
    with pytest.raises(Refusal) as caught:
        resolve_key(model, {})
    assert "MY_KEY" in caught.value.problem.message


def test_the_state_folder_is_private_to_its_owner(tmp_path: Path):
    """SAFE-04"""
    state_folder = StateFolder.from_environment({"CALLBOARD_HOME": str(tmp_path / "deep" / "home")})
    state_folder.create()
    write_file(state_folder.endpoint, b"{}")

    assert state_folder.folder.stat().st_mode & 0o777 == 0o700
    assert state_folder.endpoint.stat().st_mode & 0o777 == 0o600


def test_the_token_file_of_a_former_version_is_removed(tmp_path: Path):
    """X1: each start has a new token, so a token file would be stale."""
    state_folder = StateFolder(tmp_path)
    (tmp_path / "token").write_text("former")

    state_folder.forget_old_token()

    assert list(tmp_path.iterdir()) == []


NAMED_MODEL = "[[models]]\nkind = 'openai'\nname = 'a'\nmodel = 'm'\n"
HOOK = "[[hooks]]\nname = 'h'\ncommand = ['a']\ntools = "


@pytest.mark.parametrize(
    ("text", "code", "params"),
    [
        ("[retry]\nprot = 1\n", "unknown_key", {"key": "prot", "accepted": "attempts, patience, fallback_after"}),
        ("[[models]]\nname = 'a'\n", "missing_key", {"key": "kind", "accepted": KINDS}),
        ("[[rules]]\nmatcher = 'Bash'\n", "missing_key", {"key": "verdict", "accepted": "allow, ask, deny"}),
        (
            "[[rules]]\nmatcher = 'Bash'\nverdict = 'no'\n",
            "not_accepted",
            {"value": '"no"', "accepted": "allow, ask, deny"},
        ),
        ("port = 'x'\n", "wrong_type", {"expected": "int", "actual": "str"}),
        (
            "[[servers]]\ntransport = 'stdio'\nname = 'a'\ncommand = ['a']\nenv = { A = 1 }\n",
            "wrong_type_inside",
            {"expected": "str", "actual": "int"},
        ),
        ("[shell]\nmemory = 1\n", "too_small", {"limit": "64"}),
        ("[shell]\ntimeout = 0\n", "not_above", {"limit": "0.0"}),
        ("port = 70000\n", "too_large", {"limit": "65535"}),
        (f"{HOOK}[]\n", "too_short", {"limit": "1"}),
        (f"{HOOK}['{'a' * 501}']\n", "too_long", {"limit": "500"}),
        ("fallback = ['a b']\n", "invalid_name", {}),
        (NAMED_MODEL + "base_url = 'x'\n", "invalid_url", {}),
        (NAMED_MODEL + NAMED_MODEL, "duplicate_name", {"name": "a"}),
        ("[[rules]]\nmatcher = 'Bash('\nverdict = 'deny'\n", "matcher_syntax", {}),
        ("[[rules]]\nmatcher = 'Bash( )'\nverdict = 'deny'\n", "matcher_empty_pattern", {}),
        ("[[rules]]\nmatcher = 'mcp__a__b(x)'\nverdict = 'deny'\n", "matcher_server_pattern", {}),
        ("port =\n", "not_toml", {"reason": "Invalid value (at line 1, column 7)"}),
        ("x = " + "[" * 100_000 + "\n", "too_deep", {}),
        ("#" * 1_000_001, "file_too_large", {"limit": "1000"}),
    ],
)
def test_a_refusal_has_a_code_and_parameters_for_translation(
    state_folder: StateFolder, text: str, code: str, params: dict[str, str]
):
    state_folder.settings.write_text(text)
    problem = refused(state_folder)
    assert problem.reason == code
    assert {name: value for name, value in problem.params.items() if name not in ("line", "docs")} == params


def test_a_misplaced_key_has_its_line_and_page_as_parameters(state_folder: StateFolder):
    state_folder.settings.write_text("[shell]\nport = 3\n")
    problem = refused(state_folder)
    assert (problem.reason, problem.params["key"]) == ("misplaced_key", "port")
    assert (problem.params["line"], problem.params["docs"]) == ("2", "docs/settings.md")


def test_a_refused_variable_or_file_has_a_code(state_folder: StateFolder):
    variable = refused(state_folder, {"CALLBOARD_PORT": "many"})
    assert (variable.reason, variable.params) == ("wrong_type", {"expected": "int", "actual": "str"})
    assert refused(state_folder, {"CALLBOARD_MODEL": "qwen3"}).reason == "endpoint_missing"
    state_folder.settings.write_bytes(b"\xff")
    assert refused(state_folder).reason == "not_utf8"
    state_folder.settings.unlink()
    state_folder.settings.mkdir()
    assert (refused(state_folder).reason, refused(state_folder).params) == (
        "file_unreadable",
        {"reason": "Is a directory"},
    )
