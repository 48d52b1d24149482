"""The runtime and its server in this process."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets as py_secrets
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from callboard import __version__
from callboard.client import Endpoint
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.runtime import CommandService
from callboard.contracts.settings import Settings

from ..folder_use import FolderClaim
from ..models.providers import compute_marks
from ..state_folder import StateFolder, build_path_refusal
from .announcement import Announcement, find_endpoint
from .process import forbid_core_dumps, settle_heap, share_time

if TYPE_CHECKING:
    from callboard.adapters.http import PageLink
    from callboard.log.sqlite.store import SqliteStore
    from callboard.models.registry import ConfiguredModels

log = logging.getLogger(__name__)

#: Seconds that a process that holds the store may take to respond or to release it.
BEGIN_SECONDS = 3.0
_RETRY_SECONDS = 0.05
_LOG_BYTES = 2_000_000
_TOKEN_BYTES = 32


async def find_or_open(state_folder: StateFolder) -> Endpoint | SqliteStore:
    """Return the endpoint of the running process; without one, open the store and return it.

    Raises:
        Refusal: `store_locked` if a process holds the store and does not respond, `store_unusable`.
    """
    until = time.monotonic() + BEGIN_SECONDS
    while True:
        endpoint = await find_endpoint(state_folder)
        if endpoint is not None:
            return endpoint
        # Local imports: a client of a running process needs none of it.
        from callboard.log.sqlite.store import open_store

        from ..backups import finish_restore

        state_folder.create()
        try:
            finish_restore(state_folder)
            return open_store(state_folder.store)
        except Refusal as refusal:
            if refusal.code != "store_locked":
                raise
            if time.monotonic() > until:
                raise Refusal(
                    "store_locked",
                    f"{refusal.problem.message} It responds to no requests.",
                    hint="Stop that process and start again: acknowledged work is kept. "
                    "Or set CALLBOARD_HOME to use another store.",
                ) from refusal
        await asyncio.sleep(_RETRY_SECONDS)


@dataclass(frozen=True)
class HostedRuntime:
    """The runtime and server of this process."""

    endpoint: Endpoint
    commands: CommandService
    #: Returns an address that opens the page once, at a route such as `/s/ses_1`.
    page_link: Callable[[str], PageLink]


@asynccontextmanager
async def host_runtime(
    store: SqliteStore, state_folder: StateFolder, settings: Settings, environment: Mapping[str, str], *, stays: bool
) -> AsyncGenerator[HostedRuntime]:
    """Run the runtime and its server on an open store until the end of the block; then close the store.

    Args:
        stays: False for a process that ends with its own command.
    Raises:
        Refusal: `bad_settings`, `bad_scenario`.
    """
    from callboard.adapters.http import HttpServer
    from callboard.secrets.named_secret import NamedSecret

    from ..models.keys import load_secrets, read_environment_secrets
    from ..wiring import build_http_app, build_models, get_default_model_label, wire

    forbid_core_dumps()
    share_time()
    try:
        with closing(_open_log(state_folder, read_environment_secrets(environment).redact)) as file:
            secrets = await load_secrets(state_folder, settings, environment)
            file.setFormatter(_RedactedFormatter(secrets.redact))
            models = build_models(settings, environment, secrets.reveal_key)
            announcement = Announcement(state_folder, environment)

            def announce_models(new: Settings) -> None:
                announcement.update(new.models, get_default_model_label(models))

            claim = FolderClaim(state_folder.folder, environment)
            wired = wire(store, models, state_folder, environment, secrets, announce_models, claim.add)
            # Close in reverse order, also if a step fails.
            async with AsyncExitStack() as stack:
                stack.callback(claim.release)
                stack.push_async_callback(models.close)
                await stack.enter_async_context(wired.runtime)
                state_folder.forget_old_token()
                token = py_secrets.token_urlsafe(_TOKEN_BYTES)
                secrets.learn([NamedSecret("callboard", token, "process")], ["callboard"])
                server = await HttpServer.start(build_http_app(wired, state_folder, token), port=settings.port)
                stack.push_async_callback(server.stop)
                endpoint = Endpoint(
                    url=server.url,
                    token=token,
                    pid=os.getpid(),
                    epoch=store.epoch,
                    store_id=store.id,
                    version=__version__,
                    stays=stays,
                    model=get_default_model_label(models),
                    models=compute_marks(settings.models, environment, token),
                )
                announcement.begin(endpoint)
                stack.callback(announcement.end)
                warming = asyncio.create_task(_warm(models))
                stack.push_async_callback(_end, warming)
                yield HostedRuntime(endpoint, wired.runtime.commands, server.create_page_link)
    finally:
        await store.close()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _warm(models: ConfiguredModels) -> None:
    """Load the libraries and connections of models before the first call needs them."""
    try:
        await models.warm()
    except Exception:
        log.exception("a model could not be loaded in advance")
    settle_heap()


class _LogFile(RotatingFileHandler):
    """The incident log, private to the user and separate from the terminal."""

    _is_reported = False

    def _open(self):
        if Path(self.baseFilename).is_fifo():
            # Opening a pipe waits for its reader.
            raise OSError(errno.EINVAL, "It is not a regular file", self.baseFilename)
        os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Report a failed write once, in one line: a traceback would hide the terminal's output."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._is_reported:
            self._is_reported = True
            print(f"{self.baseFilename} cannot be written: {error.strerror}.", file=sys.stderr)

    def close(self) -> None:
        logging.getLogger().removeHandler(self)
        super().close()


class _RedactedFormatter(logging.Formatter):
    """Log lines without secrets in messages and tracebacks."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def _open_log(state_folder: StateFolder, redact: Callable[[str], str]) -> _LogFile:
    try:
        handler = _LogFile(state_folder.log, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
    except OSError as error:
        raise build_path_refusal(state_folder.log, error) from error
    handler.setFormatter(_RedactedFormatter(redact))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    return handler
