"""Process of an external agent: limited environment, supervised process tree, stored error output."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.text.redactor import mask_secrets
from callboard.tools.sandbox.launch import Descriptors, Guard, Launch, make_builder, start_guard

from .modes import ENVIRONMENT

#: Variables that an agent receives: paths of programs, its home and its settings. API keys are not passed, because an agent
#: uses the login in its home.
PASSED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
        *(
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "GOOSE_PATH_ROOT",
        ),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    }
)
#: The largest line of the protocol, in bytes. A line may hold a whole file.
MAX_LINE_BYTES = 64 * 1024 * 1024
_TAIL_LINES = 20
_MAX_LINE_CHARS = 400
#: Time for an agent to exit after its input is closed, in seconds.
_EXIT_SECONDS = 1.0
#: Time for the last error output to arrive, in seconds.
_ERROR_OUTPUT_SECONDS = 2.0
#: Time for the guard to end the process tree, in seconds: longer than the guard's own limit.
_TREE_SECONDS = 30.0
#: Shells and the guard add this to the number of the signal that ended a program.
_SIGNALLED = 128


def build_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an agent receives."""
    passed = {name: value for name, value in environment.items() if name in PASSED or name.startswith("LC_")}
    return {**passed, **ENVIRONMENT}


class AgentProcess:
    """A started agent.

    The guard ends all processes of the agent once the agent ends, `end` is called, or this process ends.
    """

    def __init__(self, guard: Guard, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._guard = guard
        self._process = guard.process
        self._reason = ""
        self._closed = False
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)
        self._listening = asyncio.create_task(self._listen())

    @property
    def running(self) -> bool:
        """Return False once the agent and all its processes have ended."""
        return self._process.returncode is None

    def read_tail(self) -> str:
        """Return the end of its error output, without anything that looks like a secret."""
        return mask_secrets("\n".join(self._lines))

    def describe_end(self) -> str:
        """Return its exit code or signal as a sentence."""
        if self.running:
            return "It closed its output but is still running."
        return self._reason or "It was ended."

    async def wait_for_end(self) -> None:
        """Wait for its end and its last error output."""
        await self._process.wait()
        await asyncio.wait([self._listening], timeout=_ERROR_OUTPUT_SECONDS)
        self._note_end()

    async def end(self) -> None:
        """Close its input, which asks it to exit, then let the guard end the process tree."""
        with contextlib.suppress(OSError, RuntimeError):
            self.writer.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _EXIT_SECONDS)
        self._guard.release()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _TREE_SECONDS)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        self._note_end()
        if not self._closed:
            self._closed = True
            self._guard.close()

    def _note_end(self) -> None:
        if self._reason or self._closed:
            return
        status = self._guard.read_status()
        if status.error:
            self._reason = f"It could not be started: {status.error.rpartition(': ')[2]}."
        elif status.exit is not None and status.exit > _SIGNALLED:
            self._reason = f"It was ended by {_format_signal(status.exit - _SIGNALLED)}."
        elif status.exit is not None:
            self._reason = f"It exited with code {status.exit}."

    async def _listen(self) -> None:
        stderr = self._process.stderr
        while stderr is not None:
            try:
                line = await stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            self._lines.append(line.decode("utf-8", "replace").rstrip()[:_MAX_LINE_CHARS])


async def start_agent(command: tuple[str, ...], folder: str, environment: Mapping[str, str]) -> AgentProcess:
    """Start the command. Raises ExternalFailure `model_unavailable` if that fails."""
    passed = build_environment(environment)
    program = Path(folder, command[0]) if "/" in command[0] else command[0]
    if shutil.which(program, path=passed.get("PATH")) is None:
        reason = os.strerror(errno.EACCES if isinstance(program, Path) and program.is_file() else errno.ENOENT)
        raise ExternalFailure("model_unavailable", f"{command[0]} could not be started: {reason}.")
    launch = Launch(make_builder(command), folder, passed, {})
    try:
        with Descriptors() as ours:
            reads, writes = ours.pipe()
            ours.release(reads)
            guard, cancelled = await start_guard(launch, source=reads, limit=MAX_LINE_BYTES)
            try:
                if cancelled or guard.process.stdout is None:
                    raise asyncio.CancelledError
                ours.release(writes)
                return AgentProcess(guard, guard.process.stdout, await _open_writer(writes))
            except BaseException:
                guard.release()
                await guard.process.wait()
                guard.close()
                raise
    except (OSError, ValueError) as error:
        reason = f"{command[0]} could not be started: {getattr(error, 'strerror', '') or error}."
        raise ExternalFailure("model_unavailable", reason) from error


async def _open_writer(descriptor: int) -> asyncio.StreamWriter:
    """Return a writer to the agent's standard input."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(descriptor, "wb", 0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _format_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
