"""The OpenAPI document says what is there, and what is there keeps to it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import jsonschema
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
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
from schemathesis.specs.openapi.definitions import OPENAPI_31

from callboard.adapters.http.openapi import document
from callboard.contracts.commands import TABLE
from tests.adapters.http.rig import SOON, TOKEN, Board, serving

DOCUMENT = msgspec.json.decode(msgspec.json.encode(document()))
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
#: Streams have no end; what they say is in other tests.
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT).exclude(path_regex="/ops$|/events$")
_AN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


async def test_the_document_is_served(board: Board):
    answer = await board.http.get("/api/v1/openapi.json")

    assert answer.json() == DOCUMENT


def test_the_document_is_openapi_3_1():
    jsonschema.Draft202012Validator(OPENAPI_31).validate(DOCUMENT)
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere():
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if "$ref" in node:
                found.append(node["$ref"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(DOCUMENT)
    for reference in found:
        place: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
    assert found


def test_it_has_an_operation_for_every_command_and_every_other_route():
    operations = {
        operation["operationId"]: (method, path)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }

    assert operations == {
        **{
            row.name: ("get", f"/api/v1/queries/{row.name}") if row.query else ("post", f"/api/v1/commands/{row.name}")
            for row in TABLE
        },
        "session_facts": ("get", "/api/v1/sessions/{stream}/facts"),
        "session_events": ("get", "/api/v1/sessions/{stream}/events"),
        "session_ops": ("get", "/api/v1/sessions/{stream}/ops"),
        "workspace_facts": ("get", "/api/v1/workspaces/{stream}/facts"),
        "workspace_ops": ("get", "/api/v1/workspaces/{stream}/ops"),
        "blob": ("get", "/api/v1/blobs/{hash}"),
        "upload": ("post", "/api/v1/uploads"),
        "rpc": ("post", "/api/v1/rpc"),
        "page_links": ("post", "/api/v1/page/links"),
        "page_credentials": ("post", "/api/v1/page/credentials"),
        "page_confirmations": ("post", "/api/v1/page/confirmations"),
        "meta": ("get", "/api/v1/meta"),
        "openapi": ("get", "/api/v1/openapi.json"),
        "agent_runs": ("get", "/api/agent-runs"),
        "agent_children": ("get", "/api/agent-children"),
        "agent_context": ("get", "/api/agent-context"),
        "agent_cancel": ("post", "/api/agent-cancel"),
        "chat": ("post", "/api/chat"),
        "events": ("get", "/api/events"),
        "settings": ("get", "/api/settings"),
        "change_settings": ("post", "/api/settings"),
        "workspace_tree": ("get", "/api/workspace/tree"),
        "interrupt_node": ("post", "/api/runs/{session}/nodes/{agent}/interrupt"),
    }


class Served:
    """A Callboard that serves in a thread, with a session whose ids are known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self.url = ""
        self.workspace = ""
        self.session = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(SOON)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with serving(self._folder) as board:
            self.url, self.session, self.workspace = board.server.url, await board.session(), await board.workspace()
            self._ready.set()
            await self._stop.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("folder")) as running:
        yield running


@SCHEMA.parametrize()
@settings(
    max_examples=14,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_no_request_finds_a_defect_or_an_answer_that_is_not_declared(case: Case, served: Served):
    """SAFE-05"""
    known = {"sessionId": served.session, "workspaceId": served.workspace, "session": served.session}
    for fields in (case.query, case.body):
        if isinstance(fields, dict):
            fields.update({name: known[name] for name in known if _is_id(fields.get(name))})
    if case.path_parameters and "stream" in case.path_parameters:
        case.path_parameters["stream"] = served.session if "sessions" in case.path else served.workspace
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}

    case.call_and_validate(base_url=served.url, headers=headers, checks=CHECKS)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _AN_ID.fullmatch(value) is not None
