"""Requests that schemathesis generates from the OpenAPI document, and checks of the answers."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec
import requests
import schemathesis
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from callboard.adapters.http.openapi import build_openapi_document
from tests.adapters.http.rigs.server import SOON, TOKEN, serving

DOCUMENT = msgspec.json.decode(msgspec.json.encode(build_openapi_document()))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ignored_auth,
    unsupported_method,
]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
#: The tested operations. Streams do not end and have other tests.
OPERATIONS = sorted(
    f"{method.upper()} {path}"
    for path, methods in DOCUMENT["paths"].items()
    for method in methods
    if not path.endswith(("/ops", "/events"))
)
_AN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class Served:
    """A Callboard that serves in a thread, with a session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self.url = ""
        self.workspace = ""
        self.session = ""
        self.client = requests.Session()
        self.client.trust_env = False

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(SOON)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with serving(self._folder) as board:
            self.url, self.session, self.workspace = board.server.url, await board.session(), await board.workspace()
            self._ready.set()
            await self._stop.wait()


def cases_at_bounds(operation: str) -> Iterator[Case]:
    """Return deterministic requests to an operation, at and beyond each limit of its schema."""
    schema_operation = SCHEMA.find_operation_by_label(operation)
    assert schema_operation is not None
    config = SCHEMA.config.generation_for(operation=schema_operation, phase="coverage")
    return schema_operation.schema.iter_coverage_cases(
        schema_operation, generation_modes=config.modes, generation_config=config, extra_data_source=None
    )


def judge(case: Case, served: Served) -> None:
    """Send the request with existing ids. Raises AssertionError for each failed check."""
    ids = {"sessionId": served.session, "workspaceId": served.workspace, "session": served.session}
    for fields in (case.query, case.body):
        if isinstance(fields, dict):
            fields.update({name: ids[name] for name in ids if _is_id(fields.get(name))})
    if case.path_parameters and "stream" in case.path_parameters:
        case.path_parameters["stream"] = served.session if "sessions" in case.path else served.workspace
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}

    case.call_and_validate(base_url=served.url, headers=headers, session=served.client, checks=CHECKS)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _AN_ID.fullmatch(value) is not None
