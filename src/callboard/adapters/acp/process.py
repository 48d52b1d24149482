"""The process of an agent: started with few variables in a group of its own, ended whole, its last words kept."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Mapping

from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.redaction import without_secrets

#: What an agent is told of this process's environment: where programs, its home and its own settings are. No key of a provider
#: and none of ours is among them; an agent uses its own login, which is in its home.
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
#: A line of the protocol may hold a whole file.
LARGEST_LINE = 64 * 1024 * 1024
_TAIL_LINES = 20
_LONGEST_LINE = 400
#: How long a process may take to end by itself once its input is closed, and after a signal, in seconds.
_BY_ITSELF_S = 0.5
_GRACE_S = 2.0


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables that an agent gets."""
    return {name: value for name, value in given.items() if name in PASSED or name.startswith("LC_")}


class AgentProcess:
    """A started agent. `tail` is what it wrote last on its standard error, without what looks like a secret."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._process = process
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)
        self._listening = asyncio.create_task(self._listen())

    @property
    def running(self) -> bool:
        """False once it has ended."""
        return self._process.returncode is None

    def tail(self) -> str:
        """Its last words."""
        return without_secrets("\n".join(self._lines))

    def how_it_ended(self) -> str:
        """Its exit code or signal, as words."""
        code = self._process.returncode
        if code is None:
            return "It is running, and closed its output."
        return f"It ended with {code}." if code >= 0 else f"It was ended by {signal.Signals(-code).name}."

    async def ended(self) -> None:
        """Waits for its end and its last words."""
        await self._process.wait()
        await asyncio.wait([self._listening], timeout=_GRACE_S)

    async def end(self) -> None:
        """Closes its input, which asks it to end, and ends its whole group where it stays."""
        with contextlib.suppress(OSError, RuntimeError):
            self.writer.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _BY_ITSELF_S)
        for number in (signal.SIGTERM, signal.SIGKILL):
            # Also where it has ended itself: what it started is in its group.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _GRACE_S)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        stderr = self._process.stderr
        while stderr is not None:
            try:
                line = await stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            self._lines.append(line.decode("utf-8", "replace").rstrip()[:_LONGEST_LINE])


async def start(command: tuple[str, ...], folder: str, given: Mapping[str, str]) -> AgentProcess:
    """Starts the command. Raises ExternalFailure `model_unavailable` where it cannot be."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(given),
            cwd=folder,
            start_new_session=True,
            limit=LARGEST_LINE,
        )
    except OSError as error:
        reason = f"{command[0]} could not be started: {error.strerror or error}."
        raise ExternalFailure("model_unavailable", reason) from error
    if process.stdout is None or process.stdin is None:
        raise ExternalFailure("internal", f"{command[0]} was started without its input and output.")
    return AgentProcess(process, process.stdout, process.stdin)
