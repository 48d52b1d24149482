"""Schema of the settings: the user's `settings.toml` in the state folder, and a folder's `.callboard/settings.toml`.

A folder's settings apply once a person trusts it; before that they can only restrict. Keys are
handles (`secret://NAME`) or names of variables. A key's value in the file works, with a warning.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from .facts.permission import Rule, RuleScope, Verdict
from .facts.turn import PermissionMode

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$")]
Filled = Annotated[str, Meta(min_length=1)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s]+$")]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
#: How much a model reasons before it responds.
Reasoning = Literal["off", "low", "medium", "high"]


class SettingsStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of the settings."""


class Price(SettingsStruct, frozen=True, kw_only=True):
    """US dollars per million tokens, for providers that do not report costs."""

    input: Annotated[float, Meta(ge=0)]
    output: Annotated[float, Meta(ge=0)]
    cached: Annotated[float, Meta(ge=0)] | None = None


class ModelEntry(SettingsStruct, frozen=True, kw_only=True, tag_field="kind"):
    """A model with a name.

    `window` (tokens) and `images` are known for many models. Without `reasoning` the model's
    default applies. `idle_timeout` is the maximum silence in seconds.
    """

    name: Name
    model: Filled
    api_key: str = ""
    api_key_env: str = ""
    window: Count | None = None
    images: bool | None = None
    price: Price | None = None
    reasoning: Reasoning | None = None
    idle_timeout: Seconds = 300.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, model={self.model!r})"


class CompatibleModel(ModelEntry, frozen=True, kw_only=True, tag="openai-compatible"):
    """A model behind an endpoint with OpenAI's chat completions. `base_url` precedes `/chat/completions`."""

    base_url: Url


class OpenAIModel(ModelEntry, frozen=True, kw_only=True, tag="openai"):
    """A model of OpenAI, over the Responses API."""

    base_url: Url = "https://api.openai.com/v1"


class AnthropicModel(ModelEntry, frozen=True, kw_only=True, tag="anthropic"):
    """A model of Anthropic. `base_url` precedes `/v1/messages`."""

    base_url: Url = "https://api.anthropic.com"


class GoogleModel(ModelEntry, frozen=True, kw_only=True, tag="google"):
    """A model of Google. `base_url` precedes `/v1beta/models`."""

    base_url: Url = "https://generativelanguage.googleapis.com"


class ScriptedModel(SettingsStruct, frozen=True, kw_only=True, tag_field="kind", tag="scripted"):
    """A scenario file that plays a model. A relative path is relative to the settings file."""

    name: Name
    scenario: Filled


class RecordedModel(SettingsStruct, frozen=True, kw_only=True, tag_field="kind", tag="recorded"):
    """The responses of a recorded run, replayed in order. `recording` is an evidence pack."""

    name: Name
    recording: Filled


AnyModel = CompatibleModel | OpenAIModel | AnthropicModel | GoogleModel | ScriptedModel | RecordedModel


class RuleEntry(SettingsStruct, frozen=True, kw_only=True):
    """A permission rule. `matcher` is as in `contracts.facts.permission.Rule`."""

    matcher: Annotated[str, Meta(min_length=1, max_length=500)]
    verdict: Verdict


class StdioServer(SettingsStruct, frozen=True, kw_only=True, tag_field="transport", tag="stdio"):
    """A tool server that is a program. Its environment is `env` only, whose values may be handles."""

    name: Name
    command: Annotated[tuple[Filled, ...], Meta(min_length=1)]
    env: dict[str, str] = {}
    tools: tuple[str, ...] = ("*",)
    deferred: bool = False
    timeout: Seconds = 60.0


class HttpServer(SettingsStruct, frozen=True, kw_only=True, tag_field="transport", tag="http"):
    """A tool server with streamable HTTP. Values of `headers` may be handles."""

    name: Name
    url: Url
    headers: dict[str, str] = {}
    tools: tuple[str, ...] = ("*",)
    deferred: bool = False
    timeout: Seconds = 60.0


Server = StdioServer | HttpServer


class Hook(SettingsStruct, frozen=True, kw_only=True):
    """A program that decides about a call before the gate: it can deny it, require approval, or rewrite its arguments.

    `tools` are matchers as in rules, `*` for all. Its environment is `env` only, whose values may
    be handles. `timeout` is in seconds.
    """

    name: Name
    command: Annotated[tuple[Filled, ...], Meta(min_length=1)]
    tools: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...], Meta(min_length=1)] = ("*",)
    env: dict[str, str] = {}
    timeout: Annotated[float, Meta(gt=0, le=60)] = 10.0


class Shell(SettingsStruct, frozen=True, kw_only=True):
    """Limits of a command: network, seconds, MiB of memory, processes, MiB per written file."""

    network: bool = False
    timeout: Seconds = 120.0
    memory: Annotated[int, Meta(ge=64, le=1_048_576)] = 4096
    processes: Annotated[int, Meta(ge=8, le=65_536)] = 512
    file_size: Annotated[int, Meta(ge=1, le=1_048_576)] = 2048


class ContextSettings(SettingsStruct, frozen=True, kw_only=True):
    """Context in addition to the prompt.

    `instructions` are names of instruction files at the top of a folder; the first existing one
    counts. `compact_at` is the share of the model's window at which the conversation is compacted.
    """

    instructions: tuple[Filled, ...] = ("AGENTS.md", "CLAUDE.md")
    compact_at: Annotated[float, Meta(ge=0.1, le=1.0)] = 0.8


class RetrySettings(SettingsStruct, frozen=True, kw_only=True):
    """Retries of failed model calls.

    `patience` is the total time in seconds to wait for an overloaded or unreachable provider;
    `fallback_after` replaces it if there is a fallback model. `attempts` is the maximum number of
    attempts after other failures, such as a broken stream.
    """

    attempts: Annotated[int, Meta(ge=1, le=100)] = 4
    patience: Annotated[float, Meta(ge=0, le=86_400)] = 300.0
    fallback_after: Annotated[float, Meta(ge=0, le=86_400)] = 20.0


class FolderSettings(SettingsStruct, frozen=True, kw_only=True):
    """Settings of a folder."""

    rules: tuple[RuleEntry, ...] = ()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    permission_mode: PermissionMode | None = None
    shell: Shell | None = None
    context: ContextSettings | None = None


class Settings(SettingsStruct, frozen=True, kw_only=True):
    """Settings of a user for all folders.

    `models` are in order of preference. `fallback` names the models that replace a failed one, in
    order. `demo_pace` is the delay factor of demos, 0 for no delay. `retention` is the number of
    days after which large contents of an archived session may be deleted, 0 for never.
    """

    port: Annotated[int, Meta(ge=0, le=65535)] = 4747
    browser: bool = True
    demo_pace: Annotated[float, Meta(ge=0, le=100)] = 1.0
    models: tuple[AnyModel, ...] = ()
    fallback: tuple[Name, ...] = ()
    rules: tuple[RuleEntry, ...] = ()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    permission_mode: PermissionMode = "ask"
    shell: Shell = Shell()
    context: ContextSettings = ContextSettings()
    retry: RetrySettings = RetrySettings()
    retention: Annotated[int, Meta(ge=0, le=36_500)] = 0


Place = Literal["user", "folder"]


#: Permissions that a folder's files can request. A client formats them in its language, with the
#: parameters.
RequestedPermissionCode = Literal[
    "rule",
    "server_starts",
    "server_reaches",
    "hook_starts",
    "program_runs",
    "permission_mode",
    "network",
    "limit",
    "agent_mode",
]


class RequestedPermission(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A permission that a folder's files request.

    `code` with `parameters` is the permission, `detail` the same in English. `file` is relative to
    the folder.
    """

    what: Literal["rule", "server", "hook", "permission_mode", "shell", "agent"]
    code: RequestedPermissionCode
    parameters: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    detail: str
    file: str


class RequestedPermissions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The permissions that a folder's files request, and their SHA-256 in hex; empty for none."""

    digest: str = ""
    widenings: tuple[RequestedPermission, ...] = ()


#: Invalid settings. A client formats them in its language, with the parameters.
SettingsProblemCode = Literal[
    # the file
    "file_unreadable",
    "file_denied",
    "file_is_folder",
    "file_too_large",
    "file_unwritable",
    "not_utf8",
    "not_toml",
    "too_deep",
    "edit_required",
    # a key or a value
    "unknown_key",
    "misplaced_key",
    "missing_key",
    "not_accepted",
    "wrong_type",
    "wrong_type_inside",
    "too_small",
    "not_above",
    "too_large",
    "too_short",
    "too_long",
    "invalid_name",
    "invalid_url",
    "invalid_value",
    "duplicate_name",
    # a matcher
    "matcher_syntax",
    "matcher_empty_pattern",
    "matcher_server_pattern",
    "matcher_glob",
    # a program or a secret
    "loader_variable",
    "secret_not_stored",
    # a model
    "key_unset",
    "model_unconfigured",
    "model_name_missing",
    "endpoint_missing",
]


class SettingsProblem(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A problem of a settings file, with its key and the expected value.

    With `keeps_last` the last valid content stays in effect; otherwise every call in the folder
    requires approval. `code` is a `SettingsProblemCode` with `params`; `message` is the same in
    English. An empty code has only the message.
    """

    file: str
    message: str
    field: str = ""
    hint: str = ""
    keeps_last: bool = False
    code: str = ""
    params: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class ListedRule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule with its place.

    `source` is its file, empty for an approval or a person. `held_back` explains why it does not apply:
    the folder is not trusted, or it expired.
    """

    rule_id: str
    matcher: str
    verdict: Verdict
    scope: RuleScope
    source: str = ""
    expires_at: int = 0
    held_back: str = ""


class Effective(msgspec.Struct, frozen=True, kw_only=True):
    """The effective settings of a folder: the user's, and the folder's if they are trusted or restrict.

    - `permission_mode`: widest mode in the folder, None for no limit. `usual_mode`: default of new
      turns.
    - `rules`: those of both files, the user's first. `hooks`: the user's run last, on the results
      of the folder's.
    - `held_back`: hooks that changed since the folder was trusted. They do not run; their calls
      require approval.
    - `withheld`: the folder's files request more than it has, or it had more before they changed.
    """

    trusted: bool = False
    rules: tuple[Rule, ...] = ()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    held_back: tuple[Hook, ...] = ()
    permission_mode: PermissionMode | None = None
    usual_mode: PermissionMode = "ask"
    withheld: bool = False
    shell: Shell = Shell()
    context: ContextSettings = ContextSettings()
    retry: RetrySettings = RetrySettings()
    fallback: tuple[str, ...] = ()
