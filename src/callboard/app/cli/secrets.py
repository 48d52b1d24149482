"""`callboard secrets`."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import typer

from callboard.client import Client
from callboard.contracts.commands.secret import ListSecrets, RemoveSecret, SecretList, SecretStored, SetSecret
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE

from ..hosting.announcement import find_endpoint
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.options import JsonObject, format_command_help
from .terminal.output import Style, print_err, print_json, print_out, strip_controls

_HELP = """Store secrets in the system keyring, list them, or remove one.

Use secret://NAME in place of a secret: in settings (api_key = "secret://NAME"), in prompts and in tool arguments.
Callboard inserts the value only where a tool runs, and never stores it: it replaces the value with its handle in all
output. A key that settings name for a model or a server is sent only there.

Without a keyring, set the variable CALLBOARD_SECRET_NAME in the environment that starts callboard.

\b
Examples:
  callboard secrets                       list secrets, without values
  callboard secrets set github            enter a value, without echo
  pass show github | callboard secrets set github
  callboard secrets remove github
"""
_app = typer.Typer(help=_HELP, rich_markup_mode=None, invoke_without_command=True)
#: Submits a command to the running process, which uses the value immediately; otherwise runs it here.
_Submit = Callable[[ListSecrets | SetSecret | RemoveSecret], Awaitable[Any]]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_app, name="secrets", help=_HELP, short_help="Store keys and tokens in the system keyring.")


@_app.callback()
def _secrets(context: typer.Context, json: JsonObject = False) -> None:
    if context.invoked_subcommand is None:
        _list(json)


@_app.command("list", help=format_command_help("list_secrets"))
def _list(json: JsonObject = False) -> None:
    listed: SecretList = run_async(_run_with_submit(lambda submit: submit(ListSecrets())))
    if json:
        print_json(listed)
        return
    style = Style(sys.stdout)
    for secret in listed.secrets:
        use = style.dim(", key of a model or server") if secret.key else ""
        print_out(f"{HANDLE}{strip_controls(secret.name)}  {style.dim(secret.place)}{use}")
    if not listed.secrets:
        print_out("No secrets. `callboard secrets set NAME` stores one.")
    if listed.problem:
        print_err(style.dim(strip_controls(listed.problem)))


@_app.command(
    "set", help=format_command_help("set_secret", "Enter the value without echo, or pipe it to standard input.")
)
def _set(name: Annotated[str, typer.Argument(metavar="NAME", help="Name: letters, digits, _ and -.")]) -> None:
    if sys.stdin.isatty():
        _check_keyring()
    value = _prompt(name) if sys.stdin.isatty() else sys.stdin.read().rstrip("\n")
    command = _build_command({"name": name, "value": value})
    stored: SecretStored = run_async(_run_with_submit(lambda submit: submit(command)))
    print_out(f"Stored in the {stored.place}. Use it as {stored.handle}.")


@_app.command("remove", help=format_command_help("remove_secret"))
def _remove(name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret.")]) -> None:
    run_async(_run_with_submit(lambda submit: submit(RemoveSecret(name=name))))
    print_out(f"The keyring has no secret {strip_controls(name)} now.")


def _prompt(name: str) -> str:
    import getpass

    return getpass.getpass(f"{HANDLE}{strip_controls(name)}: ")


def _check_keyring() -> None:
    """Raise Refusal `secret_store_unavailable` before the person types a secret that cannot be stored."""
    listed: SecretList = run_async(_run_with_submit(lambda submit: submit(ListSecrets())))
    if listed.problem:
        raise Refusal("secret_store_unavailable", listed.problem, hint="`callboard doctor` checks the keyring.")


def _build_command(fields: dict[str, str]) -> SetSecret:
    try:
        return msgspec.convert(fields, SetSecret)
    except msgspec.ValidationError as error:
        # The message must not quote the value.
        field = "name" if "$.name" in str(error) else "value"
        hint = "A name has letters, digits, _ and -; a value has at least 6 characters."
        raise Refusal("invalid_input", f"Invalid {field} of a secret.", field=field, hint=hint) from None


async def _run_with_submit(work: Callable[[_Submit], Awaitable[Any]]) -> Any:
    state_folder = StateFolder.from_environment(os.environ)
    endpoint = await find_endpoint(state_folder)
    if endpoint is not None:
        async with Client(endpoint) as client:
            return await work(client.submit)
    from callboard.runtime.services.key_store import answer_secret

    from ..models.keys import load_local_secrets

    state_folder.create()
    secrets = await load_local_secrets(state_folder, os.environ)
    return await work(lambda command: answer_secret(command, secrets))
