"""Ports of agent definitions.

A definition requests; it never grants. Its permission mode, capabilities, command and address give
no more permissions than the session and the trust in the folder allow. The gate and the deciders
enforce that.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, Protocol

import msgspec

from ..entities.team import Capability, Edge, Isolation, Policy, Role
from ..facts.session import AgentKind
from ..facts.turn import PermissionMode

#: What runs the agent: Callboard's loop (empty), an external agent with the Agent Client Protocol,
#: a remote agent with A2A, or a person.
Provider = Literal["", "acp", "a2a", "human"]
Colour = Literal["", "blue", "teal", "green", "amber", "orange", "red", "pink", "violet", "grey"]


class Schedule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The times and facts that wake a background agent.

    Attributes:
        every: Interval in seconds; 0 for none.
        cron: Cron line with five fields, in UTC; empty for none.
        wake_on: Types of facts.
    """

    every: int = 0
    cron: str = ""
    wake_on: tuple[str, ...] = ()


class Definition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An agent as its Markdown file defines it.

    Attributes:
        hash: SHA-256 of the file's bytes in hex; of the definition if an agent is its creator.
        file: Path in the folder; empty for an agent of the package.
        prompt: Body of the file.
        aliases: Further names.
        lead: The file asks for the lead. `Roster.lead` decides.
        model: Empty for the default model.
        tools: Names of tools, `("*",)` for all.
        delegate_targets: Names of agents that it may delegate to; None for all.
        edges: Edges to agents by name, never by alias.
        permission_mode: Widest mode of its runs; None for the session's.
        work_globs: Globs of files that it may change; empty for all.
        command: Command of an `acp` provider.
        agent_mode: Its own mode: empty for one that asks, `own` for the mode of its settings.
        url: Address of an `a2a` provider's card.
        made_by: Agent that defined it for one session; empty for a file.
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
    """A problem of a definition.

    `file` is the path in the folder. `line` counts from 1, 0 for the whole file. `field` is a path
    such as `edges[0].to`, empty for the whole file.
    """

    file: str
    line: int
    field: str
    message: str
    hint: str = ""


class Roster(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The agents of a folder at one moment, in the order of their files.

    `lead` is the agent of a new session, empty if none can lead. `packaged`: the folder has no own
    agents. Rosters with equal `hash` (SHA-256 in hex) are equal, problems included.
    """

    definitions: tuple[Definition, ...]
    problems: tuple[DefinitionProblem, ...]
    lead: str
    packaged: bool
    hash: str

    def find(self, name: str) -> Definition | None:
        """Return the agent with that name or alias, in any case; None if there is none."""
        folded_name = fold_name(name)
        named = (definition for definition in self.definitions if fold_name(definition.name) == folded_name)
        called = (definition for definition in self.definitions if folded_name in map(fold_name, definition.aliases))
        return next(named, None) or next(called, None)


class Definitions(Protocol):
    """The agents of a workspace. Each call reads the present files."""

    def read_roster(self, folder: str) -> Roster:
        """Return the agents of the folder, and the problems of their files."""
        ...

    def find_lead(self, folder: str) -> Definition:
        """Return the agent that leads a new session in the folder.

        Raises:
            Refusal: `bad_definition` if no agent can lead.
        """
        ...

    def get(self, folder: str, name: str) -> Definition:
        """Return the agent with that name or alias, in any case.

        Raises:
            Refusal: `unknown_agent`.
        """
        ...


def fold_name(name: str) -> str:
    """Return a name in its comparable form: without case and compatibility variants of letters."""
    return unicodedata.normalize("NFKC", name).casefold()
