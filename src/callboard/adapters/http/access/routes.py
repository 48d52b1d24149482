"""Routes of the page's codes, credentials and confirmations."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.errors import Refusal

from ..requests import CREDENTIAL, decode, read_json_body
from .codes import LoginCodes, PageLink
from .confirmations import CHALLENGE_SECONDS, Confirmations
from .confirmed_commands import build_confirmation_refusal
from .credentials import CREDENTIAL_SECONDS, PageCredential, PageCredentials

_ROOT = "/api/v1/page"
LINKS, CREDENTIALS, CONFIRMATIONS = f"{_ROOT}/links", f"{_ROOT}/credentials", f"{_ROOT}/confirmations"
CONFIRMATION_HEADER = "Callboard-Confirmation"
_KEY_BYTES = 32


class OpenPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Request an address that opens the page. `route` is a route of the page, such as `/s/ses_1`."""

    route: Annotated[str, Meta(max_length=200, pattern=r"^(/[A-Za-z0-9_.:-]+)*/?$(?!\n)")] = ""


class RedeemCode(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Redeem a code. `proof_key` is 32 random bytes in base64; the page confirms commands with it."""

    code: Annotated[str, Meta(min_length=1, max_length=100)]
    proof_key: Annotated[str, Meta(min_length=44, max_length=44)]


class CredentialIssued(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The page's credential, for `Authorization: Bearer`. Every use extends it to `expires_in_s` seconds."""

    credential: str
    expires_in_s: int


class ChallengeCommand(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Request a challenge for one command. `body_sha256` is the SHA-256 of the command's body, in hex."""

    command: Annotated[str, Meta(min_length=1, max_length=100)]
    body_sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]


class CommandChallenged(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A single-use challenge, to be answered within `expires_in_s` seconds."""

    challenge: str
    expires_in_s: int


class PageAccess:
    """Codes, credentials and confirmations of one server.

    Args:
        folder: Folder for the files that open the page. Without it there are no such files.
        now: A monotonic clock in seconds.
    """

    def __init__(self, folder: Path | None = None, now: Callable[[], float] = monotonic) -> None:
        self.codes = LoginCodes(folder, now)
        self.credentials = PageCredentials(now)
        self.confirmations = Confirmations(now)

    def redeem(self, redeem: RedeemCode, origin: str) -> CredentialIssued:
        """Exchange a code for a credential. Raises Refusal `unauthenticated`, `invalid_input`."""
        try:
            proof_key = base64.b64decode(redeem.proof_key, validate=True)
        except binascii.Error:
            proof_key = b""
        if len(proof_key) != _KEY_BYTES:
            raise Refusal(
                "invalid_input", "Invalid proofKey.", field="proofKey", hint=f"Send {_KEY_BYTES} bytes in base64."
            )
        if not self.codes.redeem(redeem.code):
            raise Refusal(
                "unauthenticated",
                "This address was already used or has expired.",
                field="code",
                hint="Run callboard again and open the address that it prints.",
            )
        return CredentialIssued(credential=self.credentials.issue(origin, proof_key), expires_in_s=CREDENTIAL_SECONDS)

    def confirm(self, request: Request, command: str, body: bytes) -> None:
        """Check the confirmation of a request. Raises Refusal `confirmation_required`."""
        credential = request.scope.get(CREDENTIAL)
        confirmation = request.headers.get(CONFIRMATION_HEADER, "")
        if not isinstance(credential, PageCredential) or not self.confirmations.redeem(
            credential, command, body, confirmation
        ):
            raise build_confirmation_refusal()

    def close(self) -> None:
        """End every code and remove its file."""
        self.codes.close()


def build_access_routes(access: PageAccess) -> list[Route]:
    """Build the routes. `CREDENTIALS` needs no credential, because its body has the code."""
    to_open = msgspec.json.Decoder(OpenPage)
    to_redeem = msgspec.json.Decoder(RedeemCode)
    to_confirm = msgspec.json.Decoder(ChallengeCommand)

    async def open_page(request: Request) -> Response:
        page = decode(to_open, await read_json_body(request))
        if request.scope.get(CREDENTIAL) is not None:
            raise Refusal("not_authorised", "A page cannot open other pages.", hint="Run callboard again.")
        return _build_response(access.codes.issue(_get_origin(request), page.route))

    async def redeem(request: Request) -> Response:
        return _build_response(access.redeem(decode(to_redeem, await read_json_body(request)), _get_origin(request)))

    async def challenge(request: Request) -> Response:
        command = decode(to_confirm, await read_json_body(request))
        credential = request.scope.get(CREDENTIAL)
        if not isinstance(credential, PageCredential):
            raise Refusal(
                "not_authorised",
                "Only a page confirms commands.",
                hint="Send the command with the token. It needs no confirmation.",
            )
        value = access.confirmations.challenge(credential, command.command, command.body_sha256)
        return _build_response(CommandChallenged(challenge=value, expires_in_s=CHALLENGE_SECONDS))

    return [
        Route(LINKS, open_page, methods=["POST"]),
        Route(CREDENTIALS, redeem, methods=["POST"]),
        Route(CONFIRMATIONS, challenge, methods=["POST"]),
    ]


def _get_origin(request: Request) -> str:
    return f"http://{request.headers['host'].lower()}"


def _build_response(value: PageLink | CredentialIssued | CommandChallenged) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")
