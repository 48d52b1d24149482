"""Whatever is raised becomes an answer: a refusal as itself, a defect as an incident, and never a stack trace."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.contracts.errors import Problem, Refusal

from .problems import METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA, WrongMediaError, incident, problem_response

log = logging.getLogger(__name__)


class ErrorResponses:
    """Answers for what the routes raise. Once an answer has begun, a failure can only cut it off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noticed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        except ClientDisconnect:
            log.debug("a client went away before its request was complete")
        except Exception as error:
            response = _answer(error, scope)
            if not begun:
                await response(scope, receive, send)


def _answer(error: Exception, scope: Scope):
    match error:
        case WrongMediaError():
            return problem_response(error.problem, status=UNSUPPORTED_MEDIA)
        case Refusal():
            return problem_response(error.problem)
        case HTTPException(status_code=405):
            allowed = (error.headers or {}).get("Allow", "").split(", ")
            return method_not_allowed(scope, ", ".join(sorted(allowed)))
        case HTTPException(status_code=404):
            return problem_response(unknown_route(scope["path"]))
        case _:
            return problem_response(incident(error, f"{scope['method']} {scope['path']}"))


def method_not_allowed(scope: Scope, allowed: str):
    """The answer to a method that the route does not have."""
    problem = Problem(code="unknown_route", message=f"{scope['method']} is not possible here.", hint=f"Use {allowed}.")
    return problem_response(problem, status=METHOD_NOT_ALLOWED, headers={"Allow": allowed})


def unknown_route(path: str) -> Problem:
    """What is said of a path that leads nowhere."""
    return Problem(
        code="unknown_route",
        message=f"There is nothing at {path[:200]}.",
        hint="GET /api/v1/openapi.json lists the routes.",
    )
