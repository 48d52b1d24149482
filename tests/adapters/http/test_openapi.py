"""The OpenAPI document, and conformance of the routes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from callboard.contracts.commands import TABLE
from tests.adapters.http.rigs.conformance import DOCUMENT, OPERATIONS, Served, cases_at_bounds, judge
from tests.adapters.http.rigs.server import Board


async def test_the_document_is_served(board: Board):
    answer = await board.http.get("/api/v1/openapi.json")

    assert answer.json() == DOCUMENT


def test_the_document_is_openapi_3_1():
    jsonschema_rs.Draft202012Validator(OPENAPI_31).validate(DOCUMENT)
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema)


def test_every_reference_resolves():
    references: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if "$ref" in node:
                references.append(node["$ref"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(DOCUMENT)
    for reference in references:
        target: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
    assert references


def test_the_document_has_an_operation_for_every_command_and_route():
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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("folder")) as running:
        yield running


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_request_at_a_bound_finds_a_defect_or_an_undeclared_answer(operation: str, served: Served):
    """SAFE-05"""
    for case in cases_at_bounds(operation):
        judge(case, served)
