"""`callboard secrets`."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import typer

from callboard.client.client import Client
from callboard.contracts.commands.secrets import ListSecrets, RemoveSecret, SecretKept, SecretList, SetSecret
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE

from ..hosting.announcement import find_endpoint
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.output import Style, print_err, print_out, strip_controls

_HELP = """Keep secrets in the system's keyring; list them, set one, remove one.

Where a secret is kept as NAME, secret://NAME stands for it: in settings (api_key = "secret://NAME"), in what you write and in
what agents do. Its value is put in place only where a tool runs, and is never written down: wherever it turns up it is
replaced by its handle. A key that settings name for a model or a server is given to nobody else.

Without a keyring a variable holds a secret: CALLBOARD_SECRET_NAME, in the environment in which callboard is started.

\b
Examples:
  callboard secrets                       what there is, without values
  callboard secrets set github            asks for the value, and shows nothing of it
  pass show github | callboard secrets set github
  callboard secrets remove github
"""
_app = typer.Typer(help=_HELP, rich_markup_mode=None, invoke_without_command=True)
#: Carries a command out: where a process serves, that one, so that it knows the value at once.
_Submit = Callable[[ListSecrets | SetSecret | RemoveSecret], Awaitable[Any]]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.add_typer(_app, name="secrets", help=_HELP, short_help="Keep keys and tokens in the system's keyring.")


@_app.callback()
def _secrets(context: typer.Context, json: Json = False) -> None:
    if context.invoked_subcommand is None:
        _list(json)


@_app.command("list", help="The secrets that there are, without their values.")
def _list(json: Json = False) -> None:
    found: SecretList = run_async(_with(lambda submit: submit(ListSecrets())))
    if json:
        print_out(msgspec.json.encode(found).decode())
        return
    style = Style(sys.stdout)
    for one in found.secrets:
        key = style.dim(", the key of a model or a server") if one.key else ""
        print_out(f"{HANDLE}{strip_controls(one.name)}  {style.dim(one.place)}{key}")
    if not found.secrets:
        print_out("There are no secrets. `callboard secrets set NAME` keeps one.")
    if found.problem:
        print_err(style.dim(strip_controls(found.problem)))


@_app.command("set", help="Keep a value, which is asked for without being shown, or read from standard input.")
def _set(name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, _ and -.")]) -> None:
    if sys.stdin.isatty():
        _needs_a_keyring()
    value = _asked(name) if sys.stdin.isatty() else sys.stdin.read().rstrip("\n")
    command = _checked({"name": name, "value": value})
    kept: SecretKept = run_async(_with(lambda submit: submit(command)))
    print_out(f"Kept in the {kept.place}. {kept.handle} stands for it.")


@_app.command("remove", help="Forget a value that is in the keyring.")
def _remove(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    run_async(_with(lambda submit: submit(RemoveSecret(name=name))))
    print_out(f"There is no secret {strip_controls(name)} in the keyring any more.")


def _asked(name: str) -> str:
    import getpass

    return getpass.getpass(f"{HANDLE}{strip_controls(name)}: ")


def _needs_a_keyring() -> None:
    """Nobody types a secret that nothing could keep. Raises Refusal `secret_store_unavailable`."""
    found: SecretList = run_async(_with(lambda submit: submit(ListSecrets())))
    if found.problem:
        raise Refusal("secret_store_unavailable", found.problem)


def _checked(given: dict[str, str]) -> SetSecret:
    try:
        return msgspec.convert(given, SetSecret)
    except msgspec.ValidationError as error:
        # Nothing of the value is told: only what was expected of it.
        field = "name" if "$.name" in str(error) else "value"
        hint = "A name has letters, digits, _ and -; a value at least 6 characters."
        raise Refusal("invalid_input", f"That cannot be the {field} of a secret.", field=field, hint=hint) from None


async def _with(work: Callable[[_Submit], Awaitable[Any]]) -> Any:
    home = StateFolder.from_environment(os.environ)
    endpoint = await find_endpoint(home)
    if endpoint is not None:
        async with Client(endpoint) as client:
            return await work(client.submit)
    from callboard.runtime.secrets.key_store import answer_secret

    from ..models.keys import load_local_secrets

    home.make()
    secrets = await load_local_secrets(home, os.environ)
    return await work(lambda command: answer_secret(command, secrets))
