"""A definition: a Markdown file whose frontmatter says what the agent may do and whose body is its prompt."""

from __future__ import annotations

import hashlib
from typing import Annotated

import frontmatter
import msgspec
import yaml

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.thread import AgentKind
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.tools import Policy

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class _Front(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Name
    description: str = ""
    kind: AgentKind = "main"
    model: str = ""
    tools: tuple[str, ...] = ()
    policy: tuple[Policy, ...] = ()
    max_iters: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50


def parse(source: bytes, where: str) -> Definition:
    """The definition in these bytes. `where` names the file in errors. Raises Refusal `bad_definition` with the field."""
    try:
        front, body = frontmatter.parse(source.decode())
        checked = msgspec.convert(front, _Front)
    except UnicodeDecodeError as error:
        raise Refusal("bad_definition", f"{where} is not UTF-8: {error.reason}.", field=where) from error
    except yaml.YAMLError as error:
        raise Refusal("bad_definition", f"{where}: the frontmatter is not YAML: {error}", field=where) from error
    except msgspec.ValidationError as error:
        raise Refusal("bad_definition", f"{where}: {error}", field=where) from error
    return Definition(
        name=checked.name,
        description=checked.description,
        kind=checked.kind,
        prompt=body.strip(),
        hash=hashlib.sha256(source).hexdigest(),
        model=checked.model,
        tools=checked.tools,
        policy=checked.policy,
        max_iters=checked.max_iters,
    )
