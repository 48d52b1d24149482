"""State of a call in the gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from callboard.contracts.commands.action import AskPersonArguments, ProposePlanArguments
from callboard.contracts.commands.agent import AddEdgeArguments, DefineAgentArguments
from callboard.contracts.commands.subagent import MergeArguments
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.facts.permission import Reason, Rule
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.tools import ToolCall, ToolContext

from ..builtin import declarations
from ..builtin.bash import BashArguments
from ..builtin.edit import EditArguments
from ..builtin.glob import GlobArguments
from ..builtin.grep import GrepArguments
from ..builtin.read import ReadArguments
from ..builtin.write import WriteArguments
from ..files.changes import PlannedChange
from ..files.paths import PROTECTED, PathDenied, display, to_relative_path
from ..mcp.catalog import McpTool, to_sandbox
from ..mcp.names import is_server_tool
from ..mcp.servers import McpCatalog
from ..reasons import reason
from ..sandbox import limits
from ..sandbox.ability import SandboxAbility, detect_ability
from .rules import Target, is_exactly_allowed

#: Maximum number of protected paths below the top that a fact lists.
_MAX_LISTED = 5


class GateEnvironment(NamedTuple):
    """Sandbox of this machine, hidden folders, toolchain folders, and tools of servers."""

    ability: SandboxAbility
    hidden: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    server_tools: McpCatalog = declarations.NO_SERVERS

    @classmethod
    def detect(cls, bwrap: str, hidden: tuple[str, ...], programs: tuple[str, ...]) -> GateEnvironment:
        """Return the environment of this machine, without servers. Blocks."""
        return cls(detect_ability(bwrap), hidden=hidden, programs=programs)

    def can_sandbox(self, folder: str) -> bool:
        """Return True if a command in this folder runs in the sandbox."""
        return self.ability.works and folder != "/"

    def explain_no_sandbox(self, folder: str) -> str:
        """Return why commands in this folder run without a sandbox."""
        return "the folder is the file system's root" if folder == "/" else self.ability.problem


@dataclass
class CallContext:
    """A call with the results of its stations, which later stations use."""

    call: ToolCall
    context: ToolContext
    environment: GateEnvironment
    found_tool: declarations.BuiltinTool | None = None
    arguments: Arguments | None = None
    canonical: str = ""
    path: str | None = None
    plan: PlannedChange | None = None
    protected: str = ""
    unprotected: tuple[str, ...] = ()
    protected_below: tuple[str, ...] = ()
    rule: Rule | None = None
    reasons: tuple[Reason, ...] = ()
    sandbox: SandboxApplied | None = None

    @property
    def tool(self) -> declarations.BuiltinTool:
        """The tool. Available after the station `tools`."""
        if self.found_tool is None:
            raise LookupError("the station `tools` has not run")
        return self.found_tool

    @tool.setter
    def tool(self, kind: declarations.BuiltinTool) -> None:
        self.found_tool = kind

    @property
    def checked_arguments(self) -> Arguments:
        """The validated arguments. Available after the station `tools`."""
        if self.arguments is None:
            raise LookupError("the station `tools` has not run")
        return self.arguments

    @property
    def is_shell(self) -> bool:
        """Return True for a command."""
        return isinstance(self.arguments, BashArguments)

    @property
    def is_change(self) -> bool:
        """Return True for a change to a file."""
        return isinstance(self.arguments, WriteArguments | EditArguments)

    @property
    def is_sandboxed(self) -> bool:
        """Return True if a command runs in the sandbox."""
        return self.environment.can_sandbox(self.context.folder)

    @property
    def is_merge(self) -> bool:
        """Return True for merging a subagent's worktree."""
        return isinstance(self.arguments, MergeArguments)

    @property
    def is_server_tool(self) -> bool:
        """Return True for a tool of a server."""
        return self.tool.offer is not None if self.found_tool is not None else is_server_tool(self.call.tool)

    @property
    def formatted_arguments(self) -> str:
        """Formatted arguments of a server's tool for the approval card; empty for other tools."""
        return msgspec.json.format(self.canonical, indent=2) if isinstance(self.arguments, McpTool) else ""

    @property
    def creates_team(self) -> bool:
        """Return True for creating an agent or an edge."""
        return isinstance(self.arguments, DefineAgentArguments | AddEdgeArguments)

    @property
    def asks_person(self) -> bool:
        """Return True for a question to a person."""
        return isinstance(self.arguments, ProposePlanArguments | AskPersonArguments)

    @property
    def hook_asks(self) -> bool:
        """Return True if a hook requires approval, which no rule can replace."""
        return self.call.hook_result is not None and self.call.hook_result.verdict == "ask"

    @property
    def unapproved_secrets(self) -> tuple[str, ...]:
        """Names of the stored secrets in the call; empty if a rule allows this exact call."""
        return () if is_exactly_allowed(self.context.rules, self.target) else self.call.secrets

    @property
    def may_write(self) -> bool:
        """Return True if a command may write in the folder."""
        return not self.read_only_reason and self.context.permission_mode != "planning"

    @property
    def read_only_reason(self) -> Reason | None:
        """Reason why commands must not write in any mode; None if they may.

        The sandbox cannot confine a command to globs, so an agent with globs writes with other tools.
        """
        if "Patch" not in self.context.policy:
            return reason("no_patch_held")
        if self.context.read_only:
            return reason("reader_held")
        return reason("globs_held", globs=", ".join(self.globs)) if self.globs else None

    @property
    def globs(self) -> tuple[str, ...]:
        """All globs that limit changes; empty allows every path."""
        return tuple(dict.fromkeys((*self.context.work_globs, *self.context.parent_globs)))

    @property
    def written_path(self) -> str | None:
        """The path as the model wrote it; None for tools without a path."""
        match self.arguments:
            case ReadArguments() | WriteArguments() | EditArguments():
                return self.arguments.file_path
            case GlobArguments() | GrepArguments():
                return self.arguments.path
            case _:
                return None

    @property
    def lexical_path(self) -> str | None:
        """The relative path of the model's text; None for an invalid or missing path."""
        try:
            return None if self.written_path is None else to_relative_path(self.context.folder, self.written_path)
        except PathDenied:
            return None

    @property
    def shown_path(self) -> str | None:
        """The best known path, for messages."""
        return self.written_path if self.path is None else self.path

    @property
    def target(self) -> Target:
        """The part of the call that rules match."""
        command = self.arguments.command if isinstance(self.arguments, BashArguments) else None
        declared = self.tool.offer.digest if self.tool.offer is not None else None
        return Target(tool=self.tool.name, path=self.path, command=command, declared=declared)

    def confinement(self) -> SandboxApplied:
        """Return the sandbox of the call."""
        if self.tool.offer is not None:
            return to_sandbox(self.tool.offer)
        if not self.is_shell:
            writable = (f"{self.context.folder}/{self.plan.path}",) if self.plan is not None else ()
            return SandboxApplied(level="paths", writable=writable)
        if not self.is_sandboxed:
            return SandboxApplied(
                level="none",
                network=True,
                writable=("/",),
                detail=self.environment.explain_no_sandbox(self.context.folder),
                limits=limits.to_limits(self.context.shell, scratch=False),
            )
        read_only = [name for name in PROTECTED if name not in self.unprotected]
        detail = f"read-only: {', '.join(read_only)}" if self.may_write else "the folder is read-only"
        if self.protected_below and self.may_write:
            more = (
                f" and {len(self.protected_below) - _MAX_LISTED} more"
                if len(self.protected_below) > _MAX_LISTED
                else ""
            )
            detail += f", {', '.join(map(display, self.protected_below[:_MAX_LISTED]))}{more}"
        detail += "; /tmp and the home are empty and private"
        if self.context.shell.network:
            detail += "; the machine's network is available, with its loopback and abstract sockets"
        return SandboxApplied(
            level="bubblewrap",
            network=self.context.shell.network,
            writable=(self.context.folder,) if self.may_write else (),
            seccomp=self.environment.ability.seccomp,
            detail="; ".join(part for part in (detail, self.environment.ability.problem) if part),
            limits=limits.to_limits(self.context.shell, scratch=True),
        )
