"""Background commands of a folder, and the environment of commands."""

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
from . import command

_NO_CALL = ToolCall(call_id="", tool=bash.NAME, arguments="")


class FolderShells:
    """Implements the port `Shells`. The parameters are those of the toolbox."""

    def __init__(self, *, hidden: Sequence[str] = (), programs: Sequence[str] = (), bwrap: str = "bwrap") -> None:
        self._hidden = tuple(hidden)
        self._programs = tuple(programs)
        self._bwrap = bwrap

    async def start(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, redactor: StreamRedaction | None = None
    ) -> Process:
        """Start the command of an allowed call. Raises Refusal."""
        arguments = check_same_call(call, evaluation, context)
        if not isinstance(arguments, BashArguments) or evaluation.sandbox is None:
            raise Refusal(
                "tool_failed", "The approval has no sandbox. The command did not run.", hint="Call the tool again."
            )
        environment = await asyncio.to_thread(self._detect_environment)
        try:
            return await command.start(arguments, context.folder, evaluation.sandbox, environment, redactor)
        except OSError as error:
            raise Refusal(
                "tool_failed",
                f"The command did not run: {error.strerror or error}.",
                hint="Check the folder, then call the tool again.",
            ) from error

    async def describe_environment(self, context: ToolContext) -> ExecutionEnvironment:
        """Return what commands in this context can access."""
        return await asyncio.to_thread(lambda: self._describe(context))

    def _describe(self, context: ToolContext) -> ExecutionEnvironment:
        environment = self._detect_environment()
        case = CallContext(
            call=_NO_CALL, context=context, environment=environment, arguments=BashArguments(command=":")
        )
        case.tool = declarations.TOOLS[bash.NAME]
        is_sandboxed = case.is_sandboxed
        if is_sandboxed and case.may_write:
            with Folder(context.folder, environment.hidden) as folder:
                watch = Watch(folder.path)
                case.unprotected, case.protected_below = (
                    (*protected_paths.list_unprotectable(folder), *watch.unprotected),
                    watch.relative_protected,
                )
        sandbox = case.confinement()
        search = os.environ.get("PATH", bubblewrap.PATH)
        view = bubblewrap.SandboxView(
            folder=context.folder, writable=False, network=False, programs=environment.programs
        )
        return ExecutionEnvironment(
            cwd=context.folder,
            workspace_roots=(context.folder,),
            level=sandbox.level,
            why=""
            if is_sandboxed and not environment.ability.problem
            else environment.explain_no_sandbox(context.folder),
            seccomp=sandbox.seccomp,
            network=sandbox.network,
            limits=sandbox.limits,
            writable=sandbox.writable,
            protected=tuple(
                f"{context.folder}/{name}"
                for name in (*PROTECTED, *case.protected_below)
                if name not in case.unprotected
            )
            if is_sandboxed
            else (),
            hidden=tuple(command.inside(context.folder, environment.hidden)) if is_sandboxed else (),
            programs=tuple((bubblewrap.build_search_path(view, search) if is_sandboxed else search).split(":")),
            trusted=context.trusted,
            permission_mode=context.permission_mode,
        )

    def _detect_environment(self) -> GateEnvironment:
        return GateEnvironment.detect(self._bwrap, self._hidden, self._programs)
