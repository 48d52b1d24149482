"""State of one call on its way through the gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from callboard.contracts.commands.action import AskPerson, ProposePlan
from callboard.contracts.commands.agent import AddEdge, DefineAgent
from callboard.contracts.commands.subagent import Merge
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
from ..files.paths import PROTECTED, PathDenied, display, relative
from ..mcp.catalog import McpTool, confinement
from ..mcp.names import is_brought
from ..mcp.servers import McpCatalog
from ..reasons import reason
from ..sandbox import limits
from ..sandbox.ability import SandboxAbility
from .rules import Target, allows_exactly

#: How many protected paths below the top are named in a fact.
_MOST_NAMED = 5


class GateEnvironment(NamedTuple):
    """Sandbox of this machine, folders hidden from agents, readable toolchains, and the tools of servers."""

    ability: SandboxAbility
    hidden: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    brought: McpCatalog = declarations.NOTHING

    def holds(self, folder: str) -> bool:
        """Return True if a command in this folder runs in the sandbox."""
        return self.ability.works and folder != "/"

    def why_not(self, folder: str) -> str:
        """Return why commands in this folder run without a sandbox."""
        return "the folder is the whole machine" if folder == "/" else self.ability.problem


@dataclass
class CallContext:
    """A call with the results of its stations. Each station uses results of earlier ones."""

    call: ToolCall
    context: ToolContext
    ground: GateEnvironment
    found_kind: declarations.BuiltinTool | None = None
    asked: Arguments | None = None
    canonical: str = ""
    path: str | None = None
    plan: PlannedChange | None = None
    protected: str = ""
    unkept: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    rule: Rule | None = None
    reasons: tuple[Reason, ...] = ()
    applied: SandboxApplied | None = None

    @property
    def kind(self) -> declarations.BuiltinTool:
        """The tool, after the station `tools`."""
        if self.found_kind is None:
            raise LookupError("the tool of this call is not known yet")
        return self.found_kind

    @kind.setter
    def kind(self, kind: declarations.BuiltinTool) -> None:
        self.found_kind = kind

    @property
    def settled(self) -> Arguments:
        """The validated arguments."""
        if self.asked is None:
            raise LookupError("the arguments of this call are not checked yet")
        return self.asked

    @property
    def is_shell(self) -> bool:
        """True for a command."""
        return isinstance(self.asked, BashArguments)

    @property
    def is_change(self) -> bool:
        """True for a change to a file."""
        return isinstance(self.asked, WriteArguments | EditArguments)

    @property
    def held(self) -> bool:
        """True if a command runs in the sandbox."""
        return self.ground.holds(self.context.folder)

    @property
    def is_merge(self) -> bool:
        """True for merging a subagent's worktree."""
        return isinstance(self.asked, Merge)

    @property
    def is_brought(self) -> bool:
        """True for a tool of a server."""
        return self.kind.offered is not None if self.found_kind is not None else is_brought(self.call.tool)

    @property
    def pretty(self) -> str:
        """Formatted arguments of a server's tool, for the approval card; empty for other tools."""
        return msgspec.json.format(self.canonical, indent=2) if isinstance(self.asked, McpTool) else ""

    @property
    def makes(self) -> bool:
        """True for creating an agent or an edge."""
        return isinstance(self.asked, DefineAgent | AddEdge)

    @property
    def asks(self) -> bool:
        """True for a question that only a person can answer. It allows nothing."""
        return isinstance(self.asked, ProposePlan | AskPerson)

    @property
    def hook_asks(self) -> bool:
        """True if a hook asks for approval. No rule can give it."""
        return self.call.hook_result is not None and self.call.hook_result.verdict == "ask"

    @property
    def spends(self) -> tuple[str, ...]:
        """Names of the stored secrets that the call would receive, unless a rule allows this exact call."""
        return () if allows_exactly(self.context.rules, self.target) else self.call.secrets

    @property
    def may_write(self) -> bool:
        """True if a command may write in the folder."""
        return not self.shell_reads_only and self.context.permission_mode != "planning"

    @property
    def shell_reads_only(self) -> Reason | None:
        """Reason why a command must not write in any mode; None if it may.

        A command cannot be confined to globs. An agent with globs writes with its other tools.
        """
        if "Patch" not in self.context.policy:
            return reason("no_patch_held")
        if self.context.read_only:
            return reason("reader_held")
        return reason("globs_held", globs=", ".join(self.globs)) if self.globs else None

    @property
    def globs(self) -> tuple[str, ...]:
        """Every glob that changes are limited to; empty allows every path."""
        return tuple(dict.fromkeys((*self.context.work_globs, *self.context.parent_globs)))

    @property
    def named(self) -> str | None:
        """The path as the model wrote it; None for tools without a path."""
        match self.asked:
            case ReadArguments() | WriteArguments() | EditArguments():
                return self.asked.file_path
            case GlobArguments() | GrepArguments():
                return self.asked.path
            case _:
                return None

    @property
    def lexical(self) -> str | None:
        """The relative path of the model's text; None for an invalid path or none."""
        try:
            return None if self.named is None else relative(self.context.folder, self.named)
        except PathDenied:
            return None

    @property
    def shown(self) -> str | None:
        """The best known path, for messages."""
        return self.named if self.path is None else self.path

    @property
    def target(self) -> Target:
        """The part of the call that rules match."""
        command = self.asked.command if isinstance(self.asked, BashArguments) else None
        declared = self.kind.offered.declared if self.kind.offered is not None else None
        return Target(tool=self.kind.name, path=self.path, command=command, declared=declared)

    def confinement(self) -> SandboxApplied:
        """Return the sandbox that the call will run in."""
        if self.kind.offered is not None:
            return confinement(self.kind.offered)
        if not self.is_shell:
            writable = (f"{self.context.folder}/{self.plan.path}",) if self.plan is not None else ()
            return SandboxApplied(level="paths", writable=writable)
        if not self.held:
            return SandboxApplied(
                level="none",
                network=True,
                writable=("/",),
                detail=self.ground.why_not(self.context.folder),
                limits=limits.of(self.context.shell, scratch=False),
            )
        kept = [name for name in PROTECTED if name not in self.unkept]
        detail = f"read-only: {', '.join(kept)}" if self.may_write else "the folder is read-only"
        if self.nested and self.may_write:
            more = f" and {len(self.nested) - _MOST_NAMED} more" if len(self.nested) > _MOST_NAMED else ""
            detail += f", {', '.join(map(display, self.nested[:_MOST_NAMED]))}{more}"
        detail += "; /tmp and the home are empty and its own"
        if self.context.shell.network:
            detail += "; the network is the machine's, with its loopback and its sockets that have no file"
        return SandboxApplied(
            level="bubblewrap",
            network=self.context.shell.network,
            writable=(self.context.folder,) if self.may_write else (),
            seccomp=self.ground.ability.seccomp,
            detail="; ".join(part for part in (detail, self.ground.ability.problem) if part),
            limits=limits.of(self.context.shell, scratch=True),
        )
