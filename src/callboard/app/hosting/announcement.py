"""The endpoint file of the running process, which is trusted only after the process responds."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from callboard.client.endpoint import Endpoint, build_loopback_context
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import AnyModel
from callboard.log.sqlite.lock import find_writer

from ..models.providers import compute_marks, has_same_marks
from ..state_folder import StateFolder, build_path_refusal, read_regular, write_file

log = logging.getLogger(__name__)

#: Seconds that a process may take to respond: a busy machine is slow.
RESPONSE_SECONDS = 5.0
_META = "/api/v1/meta"


class _Meta(msgspec.Struct, rename="camel"):
    epoch: int
    store_id: str


class Announcement:
    """The endpoint file of this process, updated when its models change."""

    def __init__(self, state_folder: StateFolder, environment: Mapping[str, str]) -> None:
        self._state_folder = state_folder
        self._environment = environment
        self._endpoint: Endpoint | None = None

    def begin(self, endpoint: Endpoint) -> None:
        """Write the file atomically, with mode 0600.

        Raises:
            Refusal: `store_unusable`, `store_full`.
        """
        write_file(self._state_folder.endpoint, msgspec.json.encode(endpoint))
        self._endpoint = endpoint

    def update(self, models: tuple[AnyModel, ...], label: str) -> None:
        """Update the models and the label of the default one. If the write fails, the former file stays."""
        if self._endpoint is None:
            return
        marks = compute_marks(models, self._environment, self._endpoint.token)
        try:
            self.begin(msgspec.structs.replace(self._endpoint, models=marks, model=label))
        except Refusal as refusal:
            log.warning("the endpoint file does not name the new models: %s", refusal.problem.message)

    def end(self) -> None:
        """Remove the file, unless another process has replaced it."""
        if self._endpoint is not None and _read(self._state_folder.endpoint) == self._endpoint:
            self._state_folder.endpoint.unlink(missing_ok=True)


def find_unused_models(
    endpoint: Endpoint, models: tuple[AnyModel, ...], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the names of models that are set here but not in use by the running process."""
    if endpoint.models is None or has_same_marks(compute_marks(models, environment, endpoint.token), endpoint.models):
        return ()
    return tuple(model.name for model in models)


async def find_endpoint(state_folder: StateFolder) -> Endpoint | None:
    """Return the endpoint of the process that writes to this store, or None.

    A copied state folder has the endpoint file of the original, so the process must send the epoch and id of this store.
    Responding makes the process reload its settings and update the file, so the file is read again.

    Raises:
        Refusal: `store_unusable`.
    """
    endpoint = _read(state_folder.endpoint)
    if (
        endpoint is None
        or not _is_alive(endpoint.pid)
        or not _is_writer(state_folder, endpoint)
        or not await _is_responding(endpoint)
    ):
        return None
    newest = _read(state_folder.endpoint)
    return newest if newest is not None and newest.pid == endpoint.pid else endpoint


def _read(path: Path) -> Endpoint | None:
    try:
        return msgspec.json.decode(read_regular(path), type=Endpoint)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_writer(state_folder: StateFolder, endpoint: Endpoint) -> bool:
    """Return True if the process holds the lock of this store."""
    try:
        return find_writer(state_folder.store) == endpoint.pid
    except OSError as error:
        raise build_path_refusal(state_folder.store, error) from error


async def _is_responding(endpoint: Endpoint) -> bool:
    import httpx2

    headers = {"Authorization": f"Bearer {endpoint.token}"}
    try:
        async with httpx2.AsyncClient(
            trust_env=False, verify=build_loopback_context(), timeout=RESPONSE_SECONDS
        ) as http:
            response = await http.get(f"{endpoint.url}{_META}", headers=headers)
            meta = msgspec.json.decode(response.content, type=_Meta)
    except (httpx2.HTTPError, msgspec.MsgspecError):
        return False
    return (meta.epoch, meta.store_id) == (endpoint.epoch, endpoint.store_id)
