"""Who takes part: what is known of an agent before it works.

What a definition asks for is a wish of the folder's: permission mode, capabilities, command and address never widen what the
session and the trust in the folder allow. The gate and the deciders hold that.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, Protocol

import msgspec

from ..entities.team import Capability, Edge, Isolation, Policy, Role
from ..facts.session import AgentKind
from ..facts.turn import PermissionMode

#: What runs the agent: our own loop (empty), a process that speaks the Agent Client Protocol, an agent elsewhere that
#: speaks A2A, or a person.
Provider = Literal["", "acp", "a2a", "human"]
Colour = Literal["", "blue", "teal", "green", "amber", "orange", "red", "pink", "violet", "grey"]


class Schedule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When an agent of kind background wakes by itself: every so many seconds (0 for never), at the times of a cron line of
    five fields in UTC (empty for never), and after facts of these types."""

    every: int = 0
    cron: str = ""
    wake_on: tuple[str, ...] = ()


class Definition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An agent as its Markdown file defines it. `hash` is the SHA-256 of the file's bytes, in hex; `prompt` is its body.

    `file` is the file's path in the folder, empty for an agent that comes with the package. `aliases` reach it like its name.
    `tools` is the list of tool names, `("*",)` for all; `model` is empty where the agent takes whatever is configured.
    `delegate_targets` are the names of the agents that it may delegate to, None for any. `edges` name agents by their names,
    never by aliases. `permission_mode` is the widest that it works under, None for the session's. `work_globs` are the files
    that it may change, empty for all. `lead` says that its file asks for the lead; `Roster.lead` who has it.
    `command` is what an `acp` provider starts, `agent_mode` the mode of its own that it is to work in, empty for one in which
    it asks and `own` for the one that its own settings choose; `url` is where the card of an `a2a` provider is. `made_by` is
    the name of the agent that made it for one session, where no file defines it; its `hash` is then of what it is.
    """

    name: str
    description: str
    kind: AgentKind
    prompt: str
    hash: str
    file: str = ""
    role: Role = "custom"
    aliases: tuple[str, ...] = ()
    lead: bool = False
    model: str = ""
    tools: tuple[str, ...] = ()
    policy: tuple[Policy, ...] = ()
    delegate_targets: tuple[str, ...] | None = None
    capabilities: tuple[Capability, ...] = ()
    edges: tuple[Edge, ...] = ()
    permission_mode: PermissionMode | None = None
    work_globs: tuple[str, ...] = ()
    isolation: Isolation = "shared"
    max_iters: int = 50
    provider: Provider = ""
    command: tuple[str, ...] = ()
    agent_mode: str = ""
    url: str = ""
    schedule: Schedule | None = None
    color: Colour = ""
    made_by: str = ""


class DefinitionProblem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is wrong with a definition. `file` is the path in the folder, `line` counts from 1 (0 for the file as a whole),
    `field` is the path of the field, such as `edges[0].to` (empty for the file as a whole)."""

    file: str
    line: int
    field: str
    message: str
    hint: str = ""


class Roster(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The agents of a folder at one moment, in the order of their files.

    `lead` is the name of the one that a new session starts with, empty where none can. `packaged` says that the folder has no
    agents of its own. Two rosters with the same `hash` (SHA-256, hex) are equal, problems included.
    """

    definitions: tuple[Definition, ...]
    problems: tuple[DefinitionProblem, ...]
    lead: str
    packaged: bool
    hash: str

    def find(self, name: str) -> Definition | None:
        """The agent that this name or alias reaches, in any case; None where there is none."""
        wanted = folded(name)
        named = (one for one in self.definitions if folded(one.name) == wanted)
        called = (one for one in self.definitions if wanted in map(folded, one.aliases))
        return next(named, None) or next(called, None)


class Definitions(Protocol):
    """The agents of a workspace. Each answer is that of the files as they are now."""

    def roster(self, folder: str) -> Roster:
        """All agents of this folder and what is wrong with their files."""
        ...

    def lead(self, folder: str) -> Definition:
        """The agent that a new session in this folder starts with. Raises Refusal `bad_definition` where none can lead."""
        ...

    def get(self, folder: str, name: str) -> Definition:
        """The agent of that name or alias, in any case. Raises Refusal `unknown_agent`."""
        ...


def folded(name: str) -> str:
    """A name or an alias as names are compared: two that differ in case or in compatible forms of letters are the same."""
    return unicodedata.normalize("NFKC", name).casefold()
