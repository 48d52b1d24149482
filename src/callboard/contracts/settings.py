"""What can be set, in one schema: by a user in `settings.toml` of the state folder, in a folder in `.callboard/settings.toml`.

A folder's settings hold where its person trusts it; before that they can only narrow. Keys are handles (`secret://NAME`) or
the names of variables; a value that stands in a file works and is warned about.
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
#: The largest port, and the like.
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
#: How much a model is to reason before it answers.
Reasoning = Literal["off", "low", "medium", "high"]


class Set(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of the settings."""


class Price(Set, frozen=True, kw_only=True):
    """US dollars for a million tokens, where the provider does not tell what an answer costs."""

    input: Annotated[float, Meta(ge=0)]
    output: Annotated[float, Meta(ge=0)]
    cached: Annotated[float, Meta(ge=0)] | None = None


class ModelEntry(Set, frozen=True, kw_only=True, tag_field="kind"):
    """A model that can be asked, under a name of ours. `window` is how many tokens it takes, `images` whether it can be shown
    some; both are known of many models and need not be set. Without `reasoning` a model does as it does. `idle_timeout` is
    the longest silence, in seconds."""

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
    """A model behind an endpoint that speaks OpenAI's chat completions. `base_url` stands before `/chat/completions`."""

    base_url: Url


class OpenAIModel(ModelEntry, frozen=True, kw_only=True, tag="openai"):
    """A model of OpenAI, asked by the Responses API."""

    base_url: Url = "https://api.openai.com/v1"


class AnthropicModel(ModelEntry, frozen=True, kw_only=True, tag="anthropic"):
    """A model of Anthropic. `base_url` stands before `/v1/messages`."""

    base_url: Url = "https://api.anthropic.com"


class GoogleModel(ModelEntry, frozen=True, kw_only=True, tag="google"):
    """A model of Google. `base_url` stands before `/v1beta/models`."""

    base_url: Url = "https://generativelanguage.googleapis.com"


class ScriptedModel(Set, frozen=True, kw_only=True, tag_field="kind", tag="scripted"):
    """A scenario file that plays the model. A relative path starts at the settings file."""

    name: Name
    scenario: Filled


class RecordedModel(Set, frozen=True, kw_only=True, tag_field="kind", tag="recorded"):
    """The answers of a former run, given again in their order. `recording` is a pack of evidence."""

    name: Name
    recording: Filled


AnyModel = CompatibleModel | OpenAIModel | AnthropicModel | GoogleModel | ScriptedModel | RecordedModel


class RuleEntry(Set, frozen=True, kw_only=True):
    """A standing answer. `matcher` reads `Tool` or `Tool(pattern)`, as in `contracts.facts.permission.Rule`."""

    matcher: Annotated[str, Meta(min_length=1, max_length=500)]
    verdict: Verdict


class StdioServer(Set, frozen=True, kw_only=True, tag_field="transport", tag="stdio"):
    """A server of tools that is a program. Of the environment it gets `env` alone, where values may be handles."""

    name: Name
    command: Annotated[tuple[Filled, ...], Meta(min_length=1)]
    env: dict[str, str] = {}
    tools: tuple[str, ...] = ("*",)
    deferred: bool = False
    timeout: Seconds = 60.0


class HttpServer(Set, frozen=True, kw_only=True, tag_field="transport", tag="http"):
    """A server of tools at an address, by streamable HTTP. Values of `headers` may be handles."""

    name: Name
    url: Url
    headers: dict[str, str] = {}
    tools: tuple[str, ...] = ("*",)
    deferred: bool = False
    timeout: Seconds = 60.0


Server = StdioServer | HttpServer


class Hook(Set, frozen=True, kw_only=True):
    """A program that is asked about a call before the gate looks at it: it may deny it, have a person asked, or rewrite its
    arguments. `tools` are matchers like those of rules, `*` for all. Of the environment it gets `env` alone, where values may
    be handles; `timeout` is how long it may take, in seconds."""

    name: Name
    command: Annotated[tuple[Filled, ...], Meta(min_length=1)]
    tools: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...], Meta(min_length=1)] = ("*",)
    env: dict[str, str] = {}
    timeout: Annotated[float, Meta(gt=0, le=60)] = 10.0


class Shell(Set, frozen=True, kw_only=True):
    """What a command may take: a network, seconds, megabytes of memory, processes, megabytes of a file that it writes."""

    network: bool = False
    timeout: Seconds = 120.0
    memory: Annotated[int, Meta(ge=64, le=1_048_576)] = 4096
    processes: Annotated[int, Meta(ge=8, le=65_536)] = 512
    file_size: Annotated[int, Meta(ge=1, le=1_048_576)] = 2048


class ContextSettings(Set, frozen=True, kw_only=True):
    """What models are told beside the words. `instructions` are the names of files that are read where they stand at the top
    of a folder, the first that is there for each of its folders; `compact_at` is the share of a model's window at which the
    conversation is summarised."""

    instructions: tuple[Filled, ...] = ("AGENTS.md", "CLAUDE.md")
    compact_at: Annotated[float, Meta(ge=0.1, le=1.0)] = 0.8


class RetrySettings(Set, frozen=True, kw_only=True):
    """How often a model call that failed is tried again.

    `patience` is how many seconds a call waits in all for a provider that is overloaded or cannot be reached. `attempts` is
    how often a call is tried that failed otherwise, such as by a broken stream. `fallback_after` is the patience where a
    fallback model can be asked instead.
    """

    attempts: Annotated[int, Meta(ge=1, le=100)] = 4
    patience: Annotated[float, Meta(ge=0, le=86_400)] = 300.0
    fallback_after: Annotated[float, Meta(ge=0, le=86_400)] = 20.0


class FolderSettings(Set, frozen=True, kw_only=True):
    """What a folder can say of itself."""

    rules: tuple[RuleEntry, ...] = ()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    permission_mode: PermissionMode | None = None
    shell: Shell | None = None
    context: ContextSettings | None = None


class Settings(Set, frozen=True, kw_only=True):
    """What a user can say for all folders. `models` stand in the order of preference; `fallback` names those that are asked, in
    that order, where the chosen one fails for good. `demo_pace` is how long the agents of demos take to speak, 0 for not
    at all; `retention` is after how many days an archived session's large contents may go, 0 for never."""

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


#: What a folder's own files would allow. A client words it in its language, from the parameters.
WideningCode = Literal[
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


class Widening(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that a folder's own files would allow if a person trusted it. `what` sorts it, `code` with `parameters` says
    what exactly, `detail` says the same in English, `file` says where it stands, relative to the folder."""

    what: Literal["rule", "server", "hook", "permission_mode", "shell", "agent"]
    code: WideningCode
    parameters: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    detail: str
    file: str


class Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a folder's own files would widen, and the SHA-256 of exactly that, in hex; empty where they widen nothing."""

    digest: str = ""
    widenings: tuple[Widening, ...] = ()


class SettingsProblem(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is wrong with a file of settings: the path of the file, the key in it, and what was expected. `keeps_last` says that
    the last valid content of the file stays in force; otherwise everything is asked about in the folder."""

    file: str
    message: str
    field: str = ""
    hint: str = ""
    keeps_last: bool = False


class StandingRule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule and where it stands: `source` is its file, or empty where an answer or a person gave it. One that does not hold
    says why in `held_back`: its folder is not trusted, or its time is over."""

    rule_id: str
    matcher: str
    verdict: Verdict
    scope: RuleScope
    source: str = ""
    expires_at: int = 0
    held_back: str = ""


class Effective(msgspec.Struct, frozen=True, kw_only=True):
    """What holds in a folder: the user's settings, and the folder's where they are trusted or only narrow. `permission_mode` is
    the widest that anything works under there, None for no bound; `usual_mode` is that of a turn for which nobody chose one;
    `rules` are those of both files, the user's first; of `hooks` the user's come last and see what the folder's made of a call.
    `held_back` are the hooks of a folder that was trusted for something else: they are not run, and a person is asked about
    what they would have been asked about. `withheld` is true where the folder's file asks for more than it has, or had more
    while it was trusted for something else."""

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
