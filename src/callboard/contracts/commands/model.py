"""Queries of the configured models."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..errors import Problem
from ..facts.model import PriceSource
from .base import Answer, Command, Id, command

DetectedKind = Literal["key", "server", "agent"]


class ModelList(Answer, frozen=True, kw_only=True):
    """The models in the order of preference, and what is found beside them."""

    configured: tuple[ConfiguredModel, ...]
    found: tuple[DetectedSource, ...]


@command("list_models", ModelList, serial="store", query=True)
class ListModels(Command, frozen=True, kw_only=True):
    """List the configured models, and the keys, model servers and agents found on this machine.

    The search sends nothing to other machines and takes at most one second.
    """


class ConfiguredModel(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A configured model: `name` is `PROVIDER/MODEL`.

    `default` marks the model of agents that name none. `fallback` is its position among the models
    that replace a failed one, from 1; 0 for none. `why` explains why it is not `usable`, and what to
    do. `window` is in tokens, absent if unknown.
    """

    name: str
    provider: str
    model: str
    kind: str
    label: str
    usable: bool
    images: bool
    why: str = ""
    window: int | None = None
    default: bool = False
    fallback: int = 0
    address: str = ""


class DetectedSource(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A key, model server or agent program found on this machine.

    `where` is the variable, the address or the program. `models` are the names that a server
    offers. `settings` are the lines that configure it, in settings.toml or in an agent's file.
    `entry` is the same as an entry of `models`, empty for an agent. Without `settings`, `why` explains
    what is missing. `configured`: it is in use.
    """

    kind: DetectedKind
    name: str
    where: str
    models: tuple[str, ...] = ()
    settings: str = ""
    entry: dict[str, str] = {}
    why: str = ""
    configured: bool = False


class ModelTestResult(Answer, frozen=True, kw_only=True):
    """The response in `text`, or the `problem`.

    Times are in milliseconds since the question. `amount` is in US dollars. Values that the
    provider did not report are absent.
    """

    name: str
    ok: bool
    text: str = ""
    first_ms: int = 0
    duration_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    amount: float | None = None
    source: PriceSource = ""
    problem: Problem | None = None


@command("test_model", ModelTestResult, serial="store", query=True, waits=True, live=True)
class TryModel(Command, frozen=True, kw_only=True):
    """Send a short question to a model and report the response or the error.

    `name` is an entry of `list_models`: `PROVIDER/MODEL` or `MODEL`. It defaults to the default model.
    """

    name: Annotated[str, Meta(max_length=300)] = ""


class RoutePreview(Answer, frozen=True, kw_only=True):
    """The first `model` of the next input, as `PROVIDER/MODEL`.

    `images`: it or a fallback accepts images; otherwise `submit_turn` refuses them. `running_model`
    and `running_images` are the same for input steered into the running turn, empty and False for
    none.
    """

    model: str
    images: bool
    running_model: str = ""
    running_images: bool = False


@command("preview_route", RoutePreview, serial="store", query=True)
class PreviewRoute(Command, frozen=True, kw_only=True):
    """Preview which model receives the next input of a thread, and whether it accepts images.

    `thread_id` defaults to the lead's thread. With a workspace instead of a session, the preview is for the lead of a
    new session.
    """

    session_id: Id | None = None
    workspace_id: Id | None = None
    thread_id: Id | None = None
