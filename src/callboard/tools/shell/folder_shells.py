"""Background commands of a folder, and the environment that commands find."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from callboard.contracts.commands.process import ExecutionEnvironment
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.processes import Process
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext

from ..builtin import bash, declarations
from ..builtin.bash import BashArguments
from ..files.handles import Folder
from ..files.paths import PROTECTED
from ..gate.call_context import CallContext, GateEnvironment
from ..gate.call_identity import check_same_call
from ..protection import protected_paths
from ..protection.watch import Watch
from ..sandbox import bubblewrap
from ..sandbox.ability import detect_ability
from . import command

_ANY = ToolCall(call_id="", tool=bash.NAME, arguments="")


class FolderShells:
    """Implements the port `Shells`. `hidden`, `programs` and `bwrap` are those of the toolbox."""

    def __init__(self, *, hidden: Sequence[str] = (), programs: Sequence[str] = (), bwrap: str = "bwrap") -> None:
        self._hidden = tuple(hidden)
        self._programs = tuple(programs)
        self._bwrap = bwrap

    async def start(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, redactor: StreamRedaction | None = None
    ) -> Process:
        """Start the command of an allowed call. Raises Refusal."""
        asked = check_same_call(call, evaluation, context)
        if not isinstance(asked, BashArguments) or evaluation.sandbox is None:
            raise Refusal("tool_failed", "The gate did not say how the command is held in. Nothing was run.")
        ground = await asyncio.to_thread(self._ground)
        try:
            return await command.start(asked, context.folder, evaluation.sandbox, ground, redactor)
        except OSError as error:
            raise Refusal("tool_failed", f"The command was not run: {error.strerror or error}.") from error

    async def describe_environment(self, context: ToolContext) -> ExecutionEnvironment:
        """Return what a command of this context could access."""
        return await asyncio.to_thread(lambda: self._environment(context))

    def _environment(self, context: ToolContext) -> ExecutionEnvironment:
        ground = self._ground()
        case = CallContext(call=_ANY, context=context, environment=ground, arguments=BashArguments(command=":"))
        case.tool = declarations.TOOLS[bash.NAME]
        held = case.is_sandboxed
        if held and case.may_write:
            with Folder(context.folder, ground.hidden) as folder:
                watch = Watch(folder.path)
                case.unprotected, case.protected_below = (
                    (*protected_paths.list_unprotectable(folder), *watch.unprotected),
                    watch.relative_protected,
                )
        applied = case.confinement()
        search = os.environ.get("PATH", bubblewrap.PATH)
        view = bubblewrap.SandboxView(folder=context.folder, writable=False, network=False, programs=ground.programs)
        return ExecutionEnvironment(
            cwd=context.folder,
            workspace_roots=(context.folder,),
            level=applied.level,
            why="" if held and not ground.ability.problem else ground.explain_no_sandbox(context.folder),
            seccomp=applied.seccomp,
            network=applied.network,
            limits=applied.limits,
            writable=applied.writable,
            protected=tuple(
                f"{context.folder}/{name}"
                for name in (*PROTECTED, *case.protected_below)
                if name not in case.unprotected
            )
            if held
            else (),
            hidden=tuple(command.inside(context.folder, ground.hidden)) if held else (),
            programs=tuple((bubblewrap.search_path(view, search) if held else search).split(":")),
            trusted=context.trusted,
            permission_mode=context.permission_mode,
        )

    def _ground(self) -> GateEnvironment:
        return GateEnvironment(detect_ability(self._bwrap), hidden=self._hidden, programs=self._programs)
