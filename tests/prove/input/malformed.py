"""Malformed requests: valid ones of an OpenAPI document, each with one error.

Nothing here knows the product. The document's schemas say what a body or a parameter may be. A
change that a schema still permits is dropped.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlencode

import jsonschema_rs

Json = dict[str, Any]
#: Placeholder of a value that `json.dumps` cannot write. Its text replaces it.
_RAW = "<raw:{}:raw>"
_MARK = "<raw:"
_DEEP = 3000
#: Field whose id must exist.
_NAMED = "sessionId"
_HUGE = 5_000_000
_OF_WORKSPACES = "/api/v1/workspaces/"


@dataclass(frozen=True)
class Operation:
    """One method of one path.

    `body` is the schema of its JSON body; None if it takes none or anything.
    """

    method: str
    path: str
    body: Json | None
    parameters: tuple[Json, ...]


@dataclass
class MalformedRequest:
    """A request as it is sent.

    `wrong` describes its error; with `named` the refusal must name a field.
    """

    method: str
    target: str
    wrong: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    named: bool = True


class Document:
    """The operations of a document, and values that fit their schemas.

    `known` are existing values by field name.
    """

    def __init__(self, document: Json, existing: Mapping[str, str], draw: random.Random) -> None:
        self._document = document
        self._existing = existing
        self._draw = draw
        self._validators: dict[str, Any] = {}
        self.operations = tuple(self._operations())

    def codes(self, status: int) -> frozenset[str]:
        """Return the codes that the document lists for a status."""
        response = self._document["components"]["responses"].get(f"Problem{status}")
        if response is None:
            return frozenset()
        schema = response["content"]["application/json"]["schema"]
        return frozenset(schema["allOf"][1]["properties"]["code"]["enum"])

    def fits(self, schema: Json, value: Any) -> bool:
        """Return True if the schema permits the value."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            whole = {**schema, "components": self._document["components"]}
            self._validators[key] = jsonschema_rs.validator_for(whole)
        return self._validators[key].is_valid(value)

    def resolved(self, schema: Json) -> Json:
        """Return the schema of a reference."""
        while "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def value(self, schema: Json, name: str = "", depth: int = 0) -> Any:
        """Return a valid value, an existing one if the field's name has one."""
        schema = self.resolved(schema)
        if name in self._existing and schema.get("type", "string") == "string":
            return self._existing[name]
        if "default" in schema and self._draw.random() < 0.5:
            return schema["default"]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._draw.choice(schema["enum"])
        if "anyOf" in schema:
            kinds = [kind for kind in schema["anyOf"] if self.resolved(kind).get("type") != "null"]
            return self.value(self._draw.choice(kinds), name, depth)
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                least = schema.get("minItems", 0)
                count = max(least, 0 if depth > 3 else self._draw.randint(0, 2))
                return [self.value(schema.get("items", {}), "", depth + 1) for _ in range(count)]
            case "integer":
                return self._draw.randint(schema.get("minimum", 0), min(schema.get("maximum", 100), 10_000))
            case "number":
                return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
            case "boolean":
                return self._draw.random() < 0.5
            case "null":
                return None
            case _:
                return "abc"[: schema.get("maxLength", 3)]

    def _object(self, schema: Json, depth: int) -> Json:
        required = schema.get("required", [])
        return {
            name: self.value(of, name, depth + 1)
            for name, of in schema.get("properties", {}).items()
            if name in required or name in self._existing or (depth < 3 and self._draw.random() < 0.4)
        }

    def _operations(self) -> list[Operation]:
        operations: list[Operation] = []
        for path, methods in self._document["paths"].items():
            for method, definition in methods.items():
                content = definition.get("requestBody", {}).get("content", {})
                schema = content.get("application/json", {}).get("schema")
                parameters = tuple(self.resolved(parameter) for parameter in definition.get("parameters", ()))
                operations.append(Operation(method.upper(), path, schema or None, parameters))
        return operations


class Malformed:
    """A generator of malformed requests."""

    def __init__(self, document: Document, draw: random.Random, strangers: tuple[str, ...]) -> None:
        """`strangers` are existing ids of any kind."""
        self._document = document
        self._draw = draw
        self._strangers = strangers
        self._bodies = [operation for operation in document.operations if operation.body is not None]
        self._asking = [query for query in document.operations if _asked_by_query(query)]

    def draw_request(self) -> MalformedRequest:
        """Return the next request."""
        while True:
            request = self._drawn()
            if request is not None:
                return request

    def _drawn(self) -> MalformedRequest | None:
        dice = self._draw.random()
        if dice < 0.62:
            return self._wrong_body(self._draw.choice(self._bodies))
        if dice < 0.80:
            return self._wrong_text(self._draw.choice(self._bodies))
        if dice < 0.95:
            return self._wrong_query(self._draw.choice(self._asking))
        return self._wrong_place(self._draw.choice(self._document.operations))

    def _wrong_body(self, operation: Operation) -> MalformedRequest | None:
        assert operation.body is not None
        schema = self._document.resolved(operation.body)
        body = self._document.value(operation.body)
        if not isinstance(body, dict) or not self._document.fits(operation.body, body):
            return None
        body = cast("Json", body)
        changes: list[Callable[[Json, Json], str]] = [
            self._lacking,
            self._extra,
            self._other_kind,
            self._other_kind,
            self._beyond,
            self._stranger,
        ]
        wrong = self._draw.choice(changes)(body, schema)
        if not wrong:
            return None
        strange, raw = wrong == "an id of another kind", _MARK in json.dumps(body)
        if not (strange or raw) and self._document.fits(operation.body, body):
            return None
        text = _text(body)
        return MalformedRequest(
            operation.method, self._path(operation), wrong, text, self._headers(), named=not (strange or raw)
        )

    def _lacking(self, body: Json, schema: Json) -> str:
        required = [name for name in schema.get("required", []) if name in body]
        if not required:
            return ""
        del body[self._draw.choice(required)]
        return "something missing"

    def _extra(self, body: Json, schema: Json) -> str:
        body[self._draw.choice(("extra", "__proto__", "session_id", "é" * 50))] = 1
        return "something extra"

    def _other_kind(self, body: Json, schema: Json) -> str:
        place, key = self._somewhere(body)
        values: list[Any] = [None, True, 1, -1, 1.5, "x", "", [], {}, [[]], {"a": 1}, 10**30, _RAW.format("NaN")]
        values += [_RAW.format("1e999"), _RAW.format("-Infinity"), _RAW.format("[" * _DEEP + "]" * _DEEP)]
        values += [_RAW.format('{"a":' * _DEEP + "1" + "}" * _DEEP), _RAW.format('"\\ud800"')]
        place[key] = self._draw.choice(values)
        return "another type"

    def _beyond(self, body: Json, schema: Json) -> str:
        texts = [name for name, value in body.items() if isinstance(value, str)]
        if not texts:
            return ""
        values = ("", "x" * 70_000, "\u0000", "../../etc/passwd", "a b", "\u202e", "x\n", "-1", "😀" * 40_000)
        body[self._draw.choice(texts)] = self._draw.choice(values)
        return "beyond its bounds"

    def _stranger(self, body: Json, schema: Json) -> str:
        if body.get(_NAMED) not in self._strangers:
            return ""
        body[_NAMED] = self._draw.choice(
            [stranger for stranger in self._strangers if stranger[:3] != str(body[_NAMED])[:3]]
        )
        return "an id of another kind"

    def _somewhere(self, body: Json) -> tuple[Any, Any]:
        place: Any = body
        key: Any = self._draw.choice(list(body) or ["x"])
        while isinstance(place.get(key) if isinstance(place, dict) else place[key], dict | list):
            inner: Any = place[key]
            if not inner or self._draw.random() < 0.4:
                break
            place, key = (
                inner,
                self._draw.choice(list(cast("Json", inner)) if isinstance(inner, dict) else range(len(inner))),
            )
        return place, key

    def _wrong_text(self, operation: Operation) -> MalformedRequest | None:
        """Return a body that is no JSON object of this API, or that has another media type."""
        assert operation.body is not None
        good = _text(self._document.value(operation.body))
        path, headers = self._path(operation), self._headers()
        texts: dict[str, bytes] = {
            "nothing": b"",
            "truncated": good[: self._draw.randint(0, max(0, len(good) - 1))],
            "more behind it": good + b" x",
            "bytes that are no UTF-8": good[:-1] + b',"a":"\xff\xfe"}',
            "a list": b"[" + good + b"]",
            "a number": b"12",
            "a text": b'"' + b"x" * self._draw.randint(0, 2000) + b'"',
            "null": b"null",
            "too deep": b"[" * 100_000,
            "a byte order mark": b"\xef\xbb\xbf" + good,
            "a name twice": good[:-1] + (b"," if len(good) > 2 else b"") + b'"zz":1,"zz":[]}',
        }
        kinds = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/xml")
        dice = self._draw.random()
        if dice < 0.2:
            kind = self._draw.choice(kinds)
            return MalformedRequest(
                operation.method, path, "another content type", good, {**headers, "content-type": kind}
            )
        if dice < 0.25:
            return MalformedRequest(operation.method, path, "compressed", good, {**headers, "content-encoding": "gzip"})
        if dice < 0.35:
            return MalformedRequest(
                operation.method, path, "a bad key", good, {**headers, "idempotency-key": self._bad_key()}
            )
        if dice < 0.352:
            return MalformedRequest(
                operation.method, path, "too large", b'"' + b"x" * _HUGE + b'"', headers, named=False
            )
        wrong = self._draw.choice(list(texts))
        return MalformedRequest(operation.method, path, wrong, texts[wrong], headers, named=False)

    def _bad_key(self) -> str:
        return self._draw.choice(("a b", "x" * 129, "k\tk", "é"))

    def _wrong_query(self, operation: Operation) -> MalformedRequest | None:
        """Return a parameter that is missing, unknown, repeated, or of another kind."""
        of_query = [parameter for parameter in operation.parameters if parameter["in"] == "query"]
        sent = [
            (parameter["name"], self._document.value(parameter["schema"], parameter["name"]))
            for parameter in of_query
            if parameter["required"]
        ]
        required = [name for name, _ in sent]
        wrong = self._draw.choice(("missing", "unknown", "twice", "another type"))
        if wrong == "missing" and required:
            sent = [pair for pair in sent if pair[0] != required[0]]
        elif wrong == "twice" and required:
            sent.append(sent[0])
        elif wrong == "another type":
            typed = [
                parameter
                for parameter in of_query
                if self._document.resolved(parameter["schema"]).get("type") in ("integer", "boolean")
            ]
            if not typed:
                return None
            name = self._draw.choice(typed)["name"]
            value = self._draw.choice(("x", "1.5", "-5x", "10e400", "", "null", "[]", "９９９"))
            sent = [*(pair for pair in sent if pair[0] != name), (name, value)]
        else:
            wrong = "unknown"
            sent.append((self._draw.choice(("zz", "session_id", "%00", "sessionid")), "1"))
        target = f"{self._path(operation)}?{urlencode(sent, doseq=True)}"
        return MalformedRequest(operation.method, target, f"a parameter {wrong}", b"", {})

    def _wrong_place(self, operation: Operation) -> MalformedRequest:
        """Return an unknown method or path."""
        if self._draw.random() < 0.5:
            method = self._draw.choice(
                [other_method for other_method in ("PUT", "PATCH", "DELETE") if other_method != operation.method]
            )
            if not self._knows(operation.path, method):
                return MalformedRequest(method, self._path(operation), "another method", b"{}", named=False)
        odd = self._draw.choice(("/zz", "/..%2f..%2fetc", "/%00", "/" + "x" * 3000, "/é"))
        return MalformedRequest("POST", f"/api/v1/commands{quote(odd, safe='/%')}", "no such path", b"{}", named=False)

    def _knows(self, path: str, method: str) -> bool:
        return any(listed.path == path and listed.method == method for listed in self._document.operations)

    def _path(self, operation: Operation) -> str:
        path = operation.path
        for parameter in operation.parameters:
            if parameter["in"] == "path":
                name = "workspaceId" if path.startswith(_OF_WORKSPACES) else parameter["name"]
                value = self._document.value(parameter["schema"], name)
                path = path.replace(f"{{{parameter['name']}}}", quote(str(value), safe=""))
        return path

    def _headers(self) -> dict[str, str]:
        key = {"idempotency-key": f"k{self._draw.getrandbits(64):x}"} if self._draw.random() < 0.5 else {}
        return {"content-type": "application/json", **key}


def _asked_by_query(operation: Operation) -> bool:
    return operation.method == "GET" and any(parameter["in"] == "query" for parameter in operation.parameters)


def _text(value: Any) -> bytes:
    """Return the JSON text, with values that JSON cannot express."""
    text = json.dumps(copy.deepcopy(value), ensure_ascii=False)
    while f'"{_MARK}' in text:
        before, _, rest = text.partition(f'"{_MARK}')
        raw, _, after = rest.partition(':raw>"')
        text = before + json.loads(f'"{raw}"') + after
    return text.encode("utf-8", "surrogatepass")
