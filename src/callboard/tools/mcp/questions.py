"""Questions of servers to a person, and answers in the form's types."""

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
LONGEST = 4000
#: Maximum number of attempts for a valid answer.
_AGAIN = 3


async def ask(
    server: str, wanted: ElicitRequestParams, reporter: Reporter, safe: Callable[[str], str]
) -> ElicitResult | ErrorData:
    """Ask a person and return the answer. Return an error for a form that asks for a secret,
    without showing it.

    An invalid answer is asked for again, with the problem. `safe` redacts the question before it is
    truncated.
    """
    known = safe(wanted.message[: 2 * LONGEST])[:LONGEST]
    message = "\n".join(display(line, LONGEST) for line in known.splitlines())
    if not isinstance(wanted, ElicitRequestFormParams):
        reply = await reporter.ask(Question(server=server, message=message, url=display(wanted.url, 2000)))
        return ElicitResult(action=_ACTIONS[reply.outcome])
    schema: dict[str, Any] = dict(wanted.requested_schema)
    secret = list_secret_fields(schema)
    if secret:
        names = ", ".join(display(name, 60) for name in secret)
        return ErrorData(
            code=INVALID_PARAMS, message=f"The form asks for a secret ({names}) and was not shown. {_INSTEAD}"
        )
    problem = ""
    for _ in range(_AGAIN):
        said = f"{message}\n\n{problem}" if problem else message
        reply = await reporter.ask(Question(server=server, message=said, schema=schema))
        if reply.outcome != "answer":
            return ElicitResult(action=_ACTIONS[reply.outcome])
        try:
            return ElicitResult(action="accept", content=_content(reply, schema))
        except Refusal as refusal:
            problem = refusal.problem.message
    return ElicitResult(action="cancel")


_INSTEAD = (
    "A server must not ask for secrets by a form. "
    "Ask by an address (URL mode), or read the secret from the server's own settings."
)
_ACTIONS: dict[str, Literal["accept", "decline", "cancel"]] = {
    "answer": "accept",
    "reject": "decline",
    "nothing": "cancel",
}


def _content(reply: Reply, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the answer as an object. Plain text answers a form with one field. Raises Refusal
    `invalid_input`.
    """
    properties = cast("dict[str, Any]", schema.get("properties") or {})
    content = _object(reply.answer)
    if content is None:
        if len(properties) != 1:
            names = ", ".join(display(name, 60) for name in properties) or "nothing"
            raise Refusal("invalid_input", f"It wants a JSON object with: {names}.")
        name, one = next(iter(properties.items()))
        content = {name: _plain(reply.answer, one)}
    try:
        misfit = Checker(schema).find_mismatch(content)
    except ValueError as unfit:
        raise Refusal("invalid_input", f"What it asks for cannot be answered: {display(str(unfit), 300)}.") from unfit
    if misfit is not None:
        where = f"{misfit.where}: " if misfit.where else ""
        raise Refusal("invalid_input", f"The answer does not fit. {where}{display(misfit.message, 300)}.")
    return content


def _object(text: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None


def _plain(text: str, schema: Any) -> Any:
    """Convert text to the type of the only field."""
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
