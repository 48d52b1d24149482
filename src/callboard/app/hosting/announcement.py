"""How the process that writes the store is found: a file that says where it answers, believed only once it did."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from callboard.client.endpoint import Endpoint, loopback_context
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import AnyModel
from callboard.log.sqlite.lock import writer_of

from ..models.providers import compute_marks, marks_match
from ..state_folder import StateFolder, read_regular, unusable_path, write_file

log = logging.getLogger(__name__)

#: How long a process may take to answer, in seconds: on a busy machine it is slow, and there.
ANSWER_S = 5.0
_META = "/api/v1/meta"


class _Meta(msgspec.Struct, rename="camel"):
    epoch: int
    store_id: str


class Announcement:
    """The file of this process, which stays true while its models change."""

    def __init__(self, home: StateFolder, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment
        self._endpoint: Endpoint | None = None

    def begin(self, endpoint: Endpoint) -> None:
        """Write the file, whole, with mode 0600.

        Raises:
            Refusal: `store_unusable`, `store_full`.
        """
        write_file(self._home.endpoint, msgspec.json.encode(endpoint))
        self._endpoint = endpoint

    def update(self, models: tuple[AnyModel, ...], label: str) -> None:
        """Write which models are used from now on; `label` names the first. A file that cannot be written keeps the former."""
        if self._endpoint is None:
            return
        used = compute_marks(models, self._environment, self._endpoint.token)
        try:
            self.begin(msgspec.structs.replace(self._endpoint, models=used, model=label))
        except Refusal as refusal:
            log.warning("the endpoint file does not name the new models: %s", refusal.problem.message)

    def end(self) -> None:
        """Remove the file, unless another process has put its own in its place."""
        if self._endpoint is not None and _read(self._home.endpoint) == self._endpoint:
            self._home.endpoint.unlink(missing_ok=True)


def find_unused_models(
    endpoint: Endpoint, models: tuple[AnyModel, ...], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """The models that are set here and that the process there does not know of: it uses those of its own settings."""
    if endpoint.models is None or marks_match(compute_marks(models, environment, endpoint.token), endpoint.models):
        return ()
    return tuple(model.name for model in models)


async def find_endpoint(home: StateFolder) -> Endpoint | None:
    """Return the process that writes to this store, once it answered as the one that the file names; None without one.

    A copy of a state folder has the file of the process that writes to the original. A process that answers looks at its
    settings first and names the models that it uses from then on in the file, which is therefore read once more.

    Raises:
        Refusal: `store_unusable`.
    """
    endpoint = _read(home.endpoint)
    if endpoint is None or not _alive(endpoint.pid) or not _writes(home, endpoint) or not await _answers(endpoint):
        return None
    newest = _read(home.endpoint)
    return newest if newest is not None and newest.pid == endpoint.pid else endpoint


def _read(path: Path) -> Endpoint | None:
    try:
        return msgspec.json.decode(read_regular(path), type=Endpoint)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _writes(home: StateFolder, endpoint: Endpoint) -> bool:
    """True if the process has the lock of this very store."""
    try:
        return writer_of(home.store) == endpoint.pid
    except OSError as error:
        raise unusable_path(home.store, error) from error


async def _answers(endpoint: Endpoint) -> bool:
    import httpx2

    headers = {"Authorization": f"Bearer {endpoint.token}"}
    try:
        async with httpx2.AsyncClient(trust_env=False, verify=loopback_context(), timeout=ANSWER_S) as http:
            answer = await http.get(f"{endpoint.url}{_META}", headers=headers)
            meta = msgspec.json.decode(answer.content, type=_Meta)
    except (httpx2.HTTPError, msgspec.MsgspecError):
        return False
    return (meta.epoch, meta.store_id) == (endpoint.epoch, endpoint.store_id)
