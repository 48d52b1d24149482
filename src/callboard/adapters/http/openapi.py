"""OpenAPI 3.1 of the whole surface, made from the table of commands, the contracts and the queries of the other routes."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from callboard import __version__
from callboard.contracts.commands import TABLE, Declaration
from callboard.contracts.errors import Problem
from callboard.contracts.ports.uploads import Upload
from callboard.contracts.schema.generate import facts_schema

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
from .agentruns import agent_run_paths, agent_run_structs
from .blobs import BlobQuery
from .commands import API, command_path
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
    "description": "Makes the command safe to repeat: the same key and body have one effect and one answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$"},
}
_RESUMED: Json = {
    "name": LAST_EVENT_ID,
    "in": "header",
    "description": "The id of the last event that was taken. It wins over `after`.",
    "schema": {"type": "string", "pattern": r"^[0-9]{1,18}(\.[0-9]{1,18})?$"},
}
_ANY: Json = {"application/json": {"schema": {}}}
_STREAM_ENDS = "A stream that cannot go on from there says so with the event `gap`; any other end with `problem`."


@cache
def openapi_document() -> Json:
    """The document."""
    schemas = _schemas()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Callboard",
            "version": __version__,
            "description": "Commands, reads and streams of a runtime for teams of agents.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": {
            **{command_path(row): _query(row, schemas) if row.query else _command(row) for row in TABLE},
            **_feeds(schemas),
            **_others(schemas),
            **agent_run_paths(_operation, lambda name: _parameters(schemas[name]), (_KEY, _RESUMED)),
        },
        "components": {
            "schemas": schemas,
            "responses": {_response_name(status): _problems(status) for status in _statuses()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _schemas() -> Json:
    kinds: list[type[msgspec.Struct]] = [
        Problem,
        Meta,
        FactsQuery,
        OpsQuery,
        VocabularyQuery,
        BlobQuery,
        UploadQuery,
        Upload,
        *(one for _, asked, answer, _ in _PAGE for one in (asked, answer)),
        *agent_run_structs(),
    ]
    _, found = msgspec.json.schema_components(
        [*kinds, *(row.command for row in TABLE), *(row.answer for row in TABLE)], ref_template=_REF
    )
    return dict(sorted({**found, **_events()}.items()))


def _events() -> Json:
    """Events as the contracts' own schema has them, and a page of them."""
    placed = msgspec.json.encode(facts_schema()).replace(b'"#/$defs/', b'"#/components/schemas/')
    schema: Json = msgspec.json.decode(placed)
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


def _statuses() -> list[int]:
    return sorted({*STATUS.values(), METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA})


def _response_name(status: int) -> str:
    return f"Problem{status}"


def _problems(status: int) -> Json:
    codes = [code for code, known in STATUS.items() if known == status]
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


def _operation(name: str, summary: str, answers: Json, *, tag: str, **more: Any) -> Json:
    refused = {str(status): {"$ref": f"#/components/responses/{_response_name(status)}"} for status in _statuses()}
    return {"operationId": name, "summary": summary, "tags": [tag], **more, "responses": {"200": answers, **refused}}


def _json_answer(description: str, name: str) -> Json:
    return {"description": description, "content": {"application/json": {"schema": {"$ref": _REF.format(name=name)}}}}


def _command(row: Declaration) -> Json:
    body = {"application/json": {"schema": {"$ref": _REF.format(name=row.command.__name__)}}}
    answer = _json_answer("The answer, once it is durable.", row.answer.__name__)
    return {
        "post": _operation(
            row.name,
            row.summary,
            answer,
            tag="commands",
            parameters=[_KEY],
            requestBody={"required": True, "content": body},
        )
    }


def _query(row: Declaration, schemas: Json) -> Json:
    answer = _json_answer("The answer.", row.answer.__name__)
    parameters = _parameters(schemas[row.command.__name__])
    return {"get": _operation(row.name, row.summary, answer, tag="queries", parameters=parameters)}


def _parameters(schema: Json) -> list[Json]:
    """The fields of a Struct as parameters of the query. One that may be null is left out instead."""
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(field)}
        for name, field in schema["properties"].items()
    ]


def _without_null(field: Json) -> Json:
    kinds = [kind for kind in field.get("anyOf", []) if kind != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else field


def _feeds(schemas: Json) -> Json:
    paths: Json = {}
    for kind in ("session", "workspace"):
        stream = {"name": "stream", "in": "path", "required": True, "schema": _ID, "description": f"The {kind}'s id."}
        facts = _json_answer(f"Facts in their order, each event named by its type. {_STREAM_ENDS}", "FactPage")
        facts["content"]["text/event-stream"] = {"schema": {"type": "string"}}
        ops = {
            "description": f"Row operations: `snapshot` replaces what is shown, `ops` change it. {_STREAM_ENDS}",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
        paths[f"{API}/{kind}s/{{stream}}/facts"] = {
            "get": _operation(
                f"{kind}_facts",
                f"The facts of a {kind} and those to come; with a limit, or where JSON is accepted, a page of them.",
                facts,
                tag="streams",
                parameters=[stream, *_parameters(schemas["FactsQuery"]), _RESUMED],
            )
        }
        paths[f"{API}/{kind}s/{{stream}}/ops"] = {
            "get": _operation(
                f"{kind}_ops",
                f"What the panels of a {kind} show, and every change of it.",
                ops,
                tag="streams",
                parameters=[stream, *_parameters(schemas["OpsQuery"]), _RESUMED],
            )
        }
        if kind == "session":
            told = {
                "description": f"Events of that vocabulary, each named by its type. {_STREAM_ENDS}",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
            paths[f"{API}/sessions/{{stream}}/events"] = {
                "get": _operation(
                    "session_events",
                    "The facts of a session as events of the Agent UI or the Subagents specification.",
                    told,
                    tag="streams",
                    parameters=[stream, *_parameters(schemas["VocabularyQuery"]), _RESUMED],
                )
            }
    return paths


_PAGE = (
    (LINKS, OpenPage, PageLink, "An address that opens the page, once."),
    (CREDENTIALS, RedeemCode, CredentialIssued, "Exchange the code of such an address for a page's credential."),
    (CONFIRMATIONS, ChallengeCommand, CommandChallenged, "A challenge to confirm one command of a page."),
)


def _page_operation(path: str, kind: type[msgspec.Struct], answer: type[msgspec.Struct], summary: str) -> Json:
    body = {"application/json": {"schema": {"$ref": _REF.format(name=kind.__name__)}}}
    return _operation(
        f"page_{path.rpartition('/')[2]}",
        summary,
        _json_answer(summary, answer.__name__),
        tag="page",
        requestBody={"required": True, "content": body},
        **({"security": []} if path == CREDENTIALS else {}),
    )


def _others(schemas: Json) -> Json:
    blob = {
        "description": "The bytes, as text or as a download.",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "image/*": {"schema": {"type": "string", "format": "binary"}},
        },
    }
    named = {"name": "hash", "in": "path", "required": True, "schema": _HASH, "description": "The SHA-256 in hex."}
    described = {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return {
        f"{API}/blobs/{{hash}}": {
            "get": _operation(
                "blob",
                "Large content, or a range of it.",
                blob,
                tag="content",
                parameters=[named, *_parameters(schemas["BlobQuery"])],
            )
        },
        UPLOADS: {
            "post": _operation(
                "upload",
                "Send a file that an input will name as its attachment; it is kept for a day.",
                _json_answer("The file's id, and what it is.", "Upload"),
                tag="content",
                parameters=_parameters(schemas["UploadQuery"]),
                requestBody={
                    "required": True,
                    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                },
            )
        },
        RPC: {
            "post": _operation(
                "rpc",
                "JSON-RPC 2.0: a method is the name of a command or a query, params are its fields; a batch is a list.",
                {"description": "What the calls came to; 204 where all were notifications.", "content": _ANY},
                tag="commands",
                parameters=[_KEY],
                requestBody={"required": True, "content": _ANY},
            )
        },
        **{path: {"post": _page_operation(path, kind, answer, summary)} for path, kind, answer, summary in _PAGE},
        f"{API}/meta": {
            "get": _operation("meta", "What the server is.", _json_answer("The server.", "Meta"), tag="server")
        },
        f"{API}/openapi.json": {"get": _operation("openapi", "This document.", described, tag="server")},
    }
