"""OpenAPI 3.1 document of all routes, built from the table of commands, the contracts and the queries."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from callboard import __version__
from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import Declaration
from callboard.contracts.errors import Problem
from callboard.contracts.ports.uploads import Upload
from callboard.contracts.schema.generate import build_facts_schema

from .access import PageLink
from .access.routes import (
    CONFIRMATIONS,
    CREDENTIALS,
    LINKS,
    ChallengeCommand,
    CommandChallenged,
    CredentialIssued,
    OpenPage,
    RedeemCode,
)
from .agentruns import build_agent_run_paths, list_agent_run_structs
from .blobs import BlobQuery
from .commands import API, build_command_path
from .feeds import LAST_EVENT_ID, FactPage, FactsQuery, OpsQuery
from .meta import Meta
from .problems import METHOD_NOT_ALLOWED, STATUS, UNSUPPORTED_MEDIA
from .requests import KEY_HEADER
from .rpc import PATH as RPC
from .uploads import PATH as UPLOADS
from .uploads import UploadQuery
from .vocabularies import VocabularyQuery

Json = dict[str, Any]
_REF = "#/components/schemas/{name}"
_HASH: Json = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_ID: Json = {"type": "string", "maxLength": 64}
_KEY: Json = {
    "name": KEY_HEADER,
    "in": "header",
    "description": "Makes the command safe to repeat: requests with the same key and body have one effect and one answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$"},
}
_RESUMED: Json = {
    "name": LAST_EVENT_ID,
    "in": "header",
    "description": "The id of the last received event. It takes precedence over `after`.",
    "schema": {"type": "string", "pattern": r"^[0-9]{1,18}(\.[0-9]{1,18})?$"},
}
_ANY: Json = {"application/json": {"schema": {}}}
_STREAM_ENDS = (
    "If the stream cannot continue from that position, it ends with the event `gap`; other errors are a `problem`."
)


@cache
def build_openapi_document() -> Json:
    """Return the document."""
    schemas = _build_schemas()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Callboard",
            "version": __version__,
            "description": "Commands, queries and streams of a runtime for teams of AI agents.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": {
            **{
                build_command_path(row): _describe_query(row, schemas) if row.query else _describe_command(row)
                for row in TABLE
            },
            **_describe_feeds(schemas),
            **_describe_others(schemas),
            **build_agent_run_paths(_build_operation, lambda name: _build_parameters(schemas[name]), (_KEY, _RESUMED)),
        },
        "components": {
            "schemas": schemas,
            "responses": {_build_response_name(status): _describe_problems(status) for status in _list_statuses()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _build_schemas() -> Json:
    kinds: list[type[msgspec.Struct]] = [
        Problem,
        Meta,
        FactsQuery,
        OpsQuery,
        VocabularyQuery,
        BlobQuery,
        UploadQuery,
        Upload,
        *(struct for _, request, answer, _ in _PAGE for struct in (request, answer)),
        *list_agent_run_structs(),
    ]
    _, components = msgspec.json.schema_components(
        [*kinds, *(row.command for row in TABLE), *(row.answer for row in TABLE)], ref_template=_REF
    )
    return dict(sorted({**components, **_build_event_schemas()}.items()))


def _build_event_schemas() -> Json:
    """Return the schemas of events, from the contracts, and of a page of events."""
    moved = msgspec.json.encode(build_facts_schema()).replace(b'"#/$defs/', b'"#/components/schemas/')
    schema: Json = msgspec.json.decode(moved)
    properties = {
        "events": {"type": "array", "items": {"$ref": _REF.format(name="Event")}},
        "next": {"type": "integer", "minimum": 0},
        "head": {"type": "integer", "minimum": 0},
    }
    page = {
        "description": FactPage.__doc__,
        "type": "object",
        "properties": properties,
        "required": list(FactPage.__struct_encode_fields__),
    }
    return {**schema.pop("$defs"), "Event": schema, "FactPage": page}


def _list_statuses() -> list[int]:
    return sorted({*STATUS.values(), METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA})


def _build_response_name(status: int) -> str:
    return f"Problem{status}"


def _describe_problems(status: int) -> Json:
    codes = [code for code, code_status in STATUS.items() if code_status == status]
    codes += {METHOD_NOT_ALLOWED: ["unknown_route"], UNSUPPORTED_MEDIA: ["invalid_input"]}.get(status, [])
    return {
        "description": f"Refused: {', '.join(codes)}.",
        "content": {
            "application/json": {
                "schema": {
                    "allOf": [
                        {"$ref": _REF.format(name="Problem")},
                        {"type": "object", "properties": {"code": {"enum": codes}}},
                    ]
                }
            }
        },
    }


def _build_operation(name: str, summary: str, answers: Json, *, tag: str, **more: Any) -> Json:
    problems = {
        str(status): {"$ref": f"#/components/responses/{_build_response_name(status)}"} for status in _list_statuses()
    }
    return {"operationId": name, "summary": summary, "tags": [tag], **more, "responses": {"200": answers, **problems}}


def _build_json_answer(description: str, name: str) -> Json:
    return {"description": description, "content": {"application/json": {"schema": {"$ref": _REF.format(name=name)}}}}


def _describe_command(row: Declaration) -> Json:
    body = {"application/json": {"schema": {"$ref": _REF.format(name=row.command.__name__)}}}
    answer = _build_json_answer("The answer, sent once the command's facts are durable.", row.answer.__name__)
    return {
        "post": _build_operation(
            row.name,
            row.summary,
            answer,
            tag="commands",
            parameters=[_KEY],
            requestBody={"required": True, "content": body},
        )
    }


def _describe_query(row: Declaration, schemas: Json) -> Json:
    answer = _build_json_answer("The answer.", row.answer.__name__)
    parameters = _build_parameters(schemas[row.command.__name__])
    return {"get": _build_operation(row.name, row.summary, answer, tag="queries", parameters=parameters)}


def _build_parameters(schema: Json) -> list[Json]:
    """Return the fields of a Struct as query parameters. A nullable field becomes an optional parameter."""
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _drop_null(field)}
        for name, field in schema["properties"].items()
    ]


def _drop_null(field: Json) -> Json:
    kinds = [kind for kind in field.get("anyOf", []) if kind != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else field


def _describe_feeds(schemas: Json) -> Json:
    paths: Json = {}
    for kind in ("session", "workspace"):
        stream = {"name": "stream", "in": "path", "required": True, "schema": _ID, "description": f"The {kind}'s id."}
        facts = _build_json_answer(
            f"Facts in sequence order, each as an event with the fact's type. {_STREAM_ENDS}", "FactPage"
        )
        facts["content"]["text/event-stream"] = {"schema": {"type": "string"}}
        ops = {
            "description": f"Row operations: `snapshot` replaces all rows, `ops` change them. {_STREAM_ENDS}",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
        paths[f"{API}/{kind}s/{{stream}}/facts"] = {
            "get": _build_operation(
                f"{kind}_facts",
                f"Stream the facts of a {kind}. With a limit, or if the client accepts JSON, return a page of them.",
                facts,
                tag="streams",
                parameters=[stream, *_build_parameters(schemas["FactsQuery"]), _RESUMED],
            )
        }
        paths[f"{API}/{kind}s/{{stream}}/ops"] = {
            "get": _build_operation(
                f"{kind}_ops",
                f"Stream the rows of a {kind}'s panels and every change.",
                ops,
                tag="streams",
                parameters=[stream, *_build_parameters(schemas["OpsQuery"]), _RESUMED],
            )
        }
        if kind == "session":
            events = {
                "description": f"Events of the vocabulary, each with its type. {_STREAM_ENDS}",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
            paths[f"{API}/sessions/{{stream}}/events"] = {
                "get": _build_operation(
                    "session_events",
                    "Stream the facts of a session as events of the Agent UI or the Subagents specification.",
                    events,
                    tag="streams",
                    parameters=[stream, *_build_parameters(schemas["VocabularyQuery"]), _RESUMED],
                )
            }
    return paths


_PAGE = (
    (LINKS, OpenPage, PageLink, "Create a single-use address that opens the page."),
    (CREDENTIALS, RedeemCode, CredentialIssued, "Exchange the code of a page's address for a credential."),
    (CONFIRMATIONS, ChallengeCommand, CommandChallenged, "Create a challenge to confirm a command of the page."),
)


def _build_page_operation(path: str, kind: type[msgspec.Struct], answer: type[msgspec.Struct], summary: str) -> Json:
    body = {"application/json": {"schema": {"$ref": _REF.format(name=kind.__name__)}}}
    return _build_operation(
        f"page_{path.rpartition('/')[2]}",
        summary,
        _build_json_answer(summary, answer.__name__),
        tag="page",
        requestBody={"required": True, "content": body},
        **({"security": []} if path == CREDENTIALS else {}),
    )


def _describe_others(schemas: Json) -> Json:
    blob = {
        "description": "The content, as text, image or download.",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "image/*": {"schema": {"type": "string", "format": "binary"}},
        },
    }
    hash = {"name": "hash", "in": "path", "required": True, "schema": _HASH, "description": "The SHA-256 in hex."}
    this_document = {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return {
        f"{API}/blobs/{{hash}}": {
            "get": _build_operation(
                "blob",
                "Read large content or a range of it.",
                blob,
                tag="content",
                parameters=[hash, *_build_parameters(schemas["BlobQuery"])],
            )
        },
        UPLOADS: {
            "post": _build_operation(
                "upload",
                "Upload a file to attach to an input. It is stored for a day.",
                _build_json_answer("The file's id, name, size and media type.", "Upload"),
                tag="content",
                parameters=_build_parameters(schemas["UploadQuery"]),
                requestBody={
                    "required": True,
                    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                },
            )
        },
        RPC: {
            "post": _build_operation(
                "rpc",
                "Call commands and queries over JSON-RPC 2.0. A method is their name, params are their fields.",
                {"description": "The results; 204 if all calls are notifications.", "content": _ANY},
                tag="commands",
                parameters=[_KEY],
                requestBody={"required": True, "content": _ANY},
            )
        },
        **{path: {"post": _build_page_operation(path, kind, answer, summary)} for path, kind, answer, summary in _PAGE},
        f"{API}/meta": {
            "get": _build_operation(
                "meta", "Describe the server.", _build_json_answer("The server.", "Meta"), tag="server"
            )
        },
        f"{API}/openapi.json": {
            "get": _build_operation("openapi", "Return this document.", this_document, tag="server")
        },
    }
