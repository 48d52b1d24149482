"""Exceptions as responses: a refusal as a problem, a defect as an incident, never a stack trace."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.contracts.errors import Problem, Refusal

from .problems import METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA, WrongMediaError, build_problem_response, record_incident

log = logging.getLogger(__name__)


class ErrorResponses:
    """Middleware that turns exceptions of the routes into responses. An exception truncates a started response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except ClientDisconnect:
            log.debug("a client disconnected before its request was complete")
        except Exception as error:
            response = _build_response(error, scope)
            if not started:
                await response(scope, receive, send)


def _build_response(error: Exception, scope: Scope):
    match error:
        case WrongMediaError():
            return build_problem_response(error.problem, status=UNSUPPORTED_MEDIA)
        case Refusal():
            return build_problem_response(error.problem)
        case HTTPException(status_code=405):
            allowed = (error.headers or {}).get("Allow", "").split(", ")
            return build_method_response(scope, ", ".join(sorted(allowed)))
        case HTTPException(status_code=404):
            return build_problem_response(build_route_problem(scope["path"]))
        case _:
            return build_problem_response(record_incident(error, f"{scope['method']} {scope['path']}"))


def build_method_response(scope: Scope, allowed: str):
    """Return the response to a method that the route does not support."""
    message = f"The route does not support {scope['method']}."
    problem = Problem(code="unknown_route", message=message, hint=f"Use {allowed}.")
    return build_problem_response(problem, status=METHOD_NOT_ALLOWED, headers={"Allow": allowed})


def build_route_problem(path: str) -> Problem:
    """Return the problem of an unknown path."""
    return Problem(
        code="unknown_route",
        message=f"There is no route {path[:200]}.",
        hint="GET /api/v1/openapi.json lists the routes.",
    )
