"""Starts agents and talks with them. The library of the protocol is loaded when the first one is started."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from callboard import __version__
from callboard.contracts.ports.external import (
    AgentControl,
    AgentSettings,
    ExternalEvent,
    ExternalFailure,
    PermissionAnswer,
    PromptEnded,
)
from callboard.contracts.text.redactor import without_secrets
from callboard.runtime.workspaces.installation import installs

from .lines import Lines
from .process import AgentProcess, start

if TYPE_CHECKING:
    from acp import schema
    from acp.client.connection import ClientSideConnection
    from acp.interfaces import Client
    from pydantic import ValidationError

    from .client import AcpClient

#: How long an agent may take to start and to open a conversation, in seconds; some install themselves first.
START_S = 120.0
#: How long a process may outlast its output, in seconds, before it counts as running without one.
_OUTLASTS_S = 2.0
_ASKS = AgentControl()


class AcpAgents:
    """Implements the port `ExternalAgents`. `given` is the environment of which agents get a part."""

    def __init__(self, given: Mapping[str, str] | None = None, start_s: float = START_S) -> None:
        self._given = given
        self._start_s = start_s

    def check(self) -> None:
        """Check that the library of the protocol is there. Raises ExternalFailure `not_installed` without the extra `acp`."""
        try:
            import acp  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError as error:
            message = f"The library of the Agent Client Protocol is missing. In a terminal: {installs('acp')}"
            raise ExternalFailure("not_installed", message) from error

    async def start(
        self,
        command: tuple[str, ...],
        folder: str,
        *,
        wanted: AgentControl = _ASKS,
        resume: str = "",
        reads: bool = False,
        writes: bool = False,
    ) -> AcpSession:
        """Starts the command and opens a conversation. Raises ExternalFailure `not_installed` without the extra `acp`,
        `model_auth` where the agent wants a login, `model_unavailable`, `model_timeout`, `agent_mode_unavailable`,
        `unknown_model`."""
        self.check()
        from .client import AcpClient

        process = await start(command, folder, os.environ if self._given is None else self._given)
        session = AcpSession(process, AcpClient(), command)
        try:
            async with asyncio.timeout(self._start_s):
                await session.open(folder, resume, reads=reads, writes=writes)
                await session.control(wanted)
        except TimeoutError as error:
            await session.close()
            message = session.lost(f"It did not answer within {self._start_s:.0f} s.")
            raise ExternalFailure("model_timeout", message, retryable=True) from error
        except BaseException:
            await session.close()
            raise
        return session


class AcpSession:
    """Implements the port `ExternalSession`."""

    def __init__(self, process: AgentProcess, inward: AcpClient, command: tuple[str, ...]) -> None:
        from acp.client.connection import ClientSideConnection

        self.id = ""
        self.name = Path(command[0]).name
        self.version = ""
        self.resumed = False
        self._process = process
        self._inward = inward
        self._lines = Lines(process.reader, process.writer, inward.wait_for_room)
        self._connection: ClientSideConnection = ClientSideConnection(cast("Client", inward), self._lines)

    @property
    def settings(self) -> AgentSettings:
        """The mode and the model in force."""
        return self._inward.settings.current

    @property
    def allowed(self) -> bool:
        """False for a mode that allows more than the permission mode."""
        return self._inward.settings.allowed

    @property
    def alive(self) -> bool:
        """False once the agent is gone, or nothing more can be read from it."""
        return self._process.running and not self._lines.ended.is_set()

    async def gone(self) -> str:
        """Waits until the agent is gone or closed its output; says how it ended."""
        process = asyncio.ensure_future(self._process.ended())
        output = asyncio.ensure_future(self._lines.ended.wait())
        try:
            await asyncio.wait([process, output], return_when=asyncio.FIRST_COMPLETED)
        finally:
            process.cancel()
            output.cancel()
            await asyncio.gather(process, output, return_exceptions=True)
        return await self._how_it_ended()

    async def open(self, folder: str, resume: str, *, reads: bool, writes: bool) -> None:
        """Says hello and opens the conversation. Raises ExternalFailure."""
        from acp import PROTOCOL_VERSION, RequestError, schema
        from pydantic import ValidationError

        files = schema.FileSystemCapabilities(read_text_file=reads, write_text_file=writes)
        try:
            hello = await self._connection.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=schema.ClientCapabilities(fs=files, terminal=False),
                client_info=schema.Implementation(name="callboard", title="Callboard", version=__version__),
            )
            if hello.agent_info is not None:
                self._inward.settings.introduce(hello.agent_info.name)
                self.name, self.version = hello.agent_info.title or hello.agent_info.name, hello.agent_info.version
            able = hello.agent_capabilities
            if resume and able is not None:
                self.resumed = await self._resume(folder, resume, able)
            if not self.resumed:
                made = await self._connection.new_session(cwd=folder, mcp_servers=[])
                self.id = self._inward.conversation = made.session_id
                self._inward.settings.opened(made.modes, made.config_options)
        except RequestError as error:
            if error.code == RequestError.auth_required().code:
                message = f"{self.name} wants a login first: start it once by hand. {_said(error)}"
                raise ExternalFailure("model_auth", message) from error
            raise ExternalFailure("model_unavailable", self.lost(_said(error))) from error
        except ValidationError as error:
            raise self._invalid(error) from error
        except (ConnectionError, OSError) as error:
            raise await self._broke_off() from error

    async def control(self, wanted: AgentControl) -> None:
        """Put the agent into a mode that the permission mode allows, and choose its model. Raises ExternalFailure."""
        from pydantic import ValidationError

        try:
            await self._inward.settings.apply(self._connection, self.id, wanted)
        except ExternalFailure as failure:
            raise ExternalFailure(failure.code, f"{self.name}: {failure.message}") from failure
        except ValidationError as error:
            raise self._invalid(error) from error
        except (ConnectionError, OSError) as error:
            raise await self._broke_off() from error

    async def prompt(self, text: str) -> AsyncGenerator[ExternalEvent]:
        """Gives the agent its next input. Raises ExternalFailure."""
        from acp import RequestError, text_block
        from pydantic import ValidationError

        from .translation import end_of

        events = self._inward.events
        while not events.empty():
            events.get_nowait()
        self._inward.listening = True
        asking = asyncio.create_task(self._connection.prompt(session_id=self.id, prompt=[text_block(text)]))
        asking.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await self._inward.next_event()) is not None:
                yield event
            try:
                end, usage = end_of(asking.result())
            except RequestError as error:
                code = "model_auth" if error.code == RequestError.auth_required().code else "model_refused_request"
                raise ExternalFailure(code, f"{self.name} failed: {_said(error)}", retryable=True) from error
            except ValidationError as error:
                raise self._invalid(error) from error
            except (ConnectionError, OSError) as error:
                raise await self._broke_off() from error
            yield PromptEnded(end, usage)
        finally:
            self._inward.stop_listening()
            # What was asked last and is not taken any more must not wait for ever.
            self._inward.withdraw()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answers what asked for permission."""
        self._inward.permit(key, answer)

    def give(self, key: int, text: str = "", *, refusal: str = "", missing: bool = False) -> None:
        """Answers a read or a write."""
        self._inward.give(key, text, refusal, missing=missing)

    async def cancel(self) -> None:
        """Asks the agent to stop."""
        try:
            await self._connection.cancel(session_id=self.id)
        except (ConnectionError, OSError):
            # It is gone, which ends the prompt as well.
            return
        self._inward.withdraw()

    async def close(self) -> None:
        """Ends the agent with all that it started."""
        if self.alive:
            self._inward.withdraw()
        await self._process.end()
        # What was on its way to an agent that is gone already reaches nobody.
        with contextlib.suppress(ConnectionError):
            await self._connection.close()

    def lost(self, why: str) -> str:
        """Why the agent is of no use, with its last words."""
        tail = self._process.tail()
        return f"{self.name} is not available. {why}" + (f" It said last:\n{tail}" if tail else "")

    async def _resume(self, folder: str, resume: str, able: schema.AgentCapabilities) -> bool:
        from acp import RequestError

        more = able.session_capabilities
        # It sends updates of that conversation before its answer.
        self._inward.conversation = resume
        try:
            if able.load_session:
                found = await self._connection.load_session(cwd=folder, session_id=resume, mcp_servers=[])
            elif more is not None and more.resume is not None:
                found = await self._connection.resume_session(cwd=folder, session_id=resume, mcp_servers=[])
            else:
                found = None
        except RequestError:
            # It has that conversation no longer; a new one begins, and says that it is new.
            found = None
        if found is None:
            self._inward.conversation = ""
            return False
        self.id = resume
        self._inward.settings.opened(found.modes, found.config_options)
        return True

    def _invalid(self, error: ValidationError) -> ExternalFailure:
        message = self.lost(f"It sent an invalid {error.title}.")
        return ExternalFailure("model_unavailable", message, retryable=True)

    async def _broke_off(self) -> ExternalFailure:
        return ExternalFailure("model_unavailable", self.lost(await self._how_it_ended()), retryable=True)

    async def _how_it_ended(self) -> str:
        """Its output ends a moment before the process."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_OUTLASTS_S):
                await self._process.ended()
        return self._lines.fault or self._process.how_it_ended()


def _said(error: Exception) -> str:
    data: Any = getattr(error, "data", None)
    held = cast("dict[str, Any]", data) if isinstance(data, dict) else {"details": data}
    details = str(held.get("details") or held.get("message") or "")
    said = f"{error}: {details}" if details and details not in str(error) else str(error)
    return without_secrets(said[:1000])
