"""Questions of servers to a person, with answers in the form's types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import msgspec
from mcp_types import INVALID_PARAMS, ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ErrorData

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Question, Reply, Reporter

from ..files.paths import display
from .schema_checker import Checker
from .secret_fields import list_secret_fields

#: Maximum length of a question, in characters.
MAX_QUESTION_CHARS = 4000
#: Maximum number of attempts for a valid answer.
_MAX_ATTEMPTS = 3


async def ask(
    server: str, params: ElicitRequestParams, reporter: Reporter, redact: Callable[[str], str]
) -> ElicitResult | ErrorData:
    """Ask a person and return the answer. Reject a form that asks for a secret without showing it.

    After an invalid answer, ask again with the problem. `redact` redacts the question.
    """
    redacted = redact(params.message[: 2 * MAX_QUESTION_CHARS])[:MAX_QUESTION_CHARS]
    message = "\n".join(display(line, MAX_QUESTION_CHARS) for line in redacted.splitlines())
    if not isinstance(params, ElicitRequestFormParams):
        reply = await reporter.ask(Question(server=server, message=message, url=display(params.url, 2000)))
        return ElicitResult(action=_ACTIONS[reply.outcome])
    schema: dict[str, Any] = dict(params.requested_schema)
    secret_names = list_secret_fields(schema)
    if secret_names:
        names = ", ".join(display(name, 60) for name in secret_names)
        return ErrorData(
            code=INVALID_PARAMS, message=f"The form asks for a secret ({names}), so it was not shown. {_INSTEAD}"
        )
    problem = ""
    for _ in range(_MAX_ATTEMPTS):
        text = f"{message}\n\n{problem}" if problem else message
        reply = await reporter.ask(Question(server=server, message=text, schema=schema))
        if reply.outcome != "answer":
            return ElicitResult(action=_ACTIONS[reply.outcome])
        try:
            return ElicitResult(action="accept", content=_to_content(reply, schema))
        except Refusal as refusal:
            problem = refusal.text
    return ElicitResult(action="cancel")


_INSTEAD = "Forms must not ask for secrets. Use URL mode, or read the secret from the server's own settings."
_ACTIONS: dict[str, Literal["accept", "decline", "cancel"]] = {
    "answer": "accept",
    "reject": "decline",
    "nothing": "cancel",
}


def _to_content(reply: Reply, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the answer as an object. Plain text can answer a form with one field. Raises Refusal `invalid_input`."""
    properties = cast("dict[str, Any]", schema.get("properties") or {})
    content = _decode_object(reply.answer)
    if content is None:
        if len(properties) != 1:
            names = ", ".join(display(name, 60) for name in properties) or "nothing"
            raise Refusal(
                "invalid_input",
                "The answer is not a JSON object.",
                hint=f"Answer with a JSON object with the fields: {names}.",
            )
        name, field = next(iter(properties.items()))
        content = {name: _convert(reply.answer, field)}
    try:
        mismatch = Checker(schema).find_mismatch(content)
    except ValueError as error:
        raise Refusal(
            "invalid_input",
            f"The form is invalid: {display(str(error), 300)}.",
            hint="Cancel it, and report this to the author of the server.",
        ) from error
    if mismatch is not None:
        field_path = f"{mismatch.where}: " if mismatch.where else ""
        raise Refusal(
            "invalid_input",
            f"The answer is invalid. {field_path}{display(mismatch.message, 300)}.",
            hint="Correct it and answer again.",
        )
    return content


def _decode_object(text: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None


def _convert(text: str, schema: Any) -> Any:
    """Convert plain text to the type of the form's only field."""
    kind = cast("dict[str, Any]", schema).get("type") if isinstance(schema, dict) else "string"
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return {"yes": True, "true": True, "no": False, "false": False}[text.strip().lower()]
            case _:
                return text
    except (ValueError, KeyError):
        return text
