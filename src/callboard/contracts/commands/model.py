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
    """A model that can be asked, as `PROVIDER/MODEL` in `name`. `default` marks the one that is asked where an agent
    names none, `fallback` is its place among those that are asked where that one fails, from 1, and 0 for none. Where it is not
    `usable`, `why` says so in words, with what to do. `window` is how many tokens it takes, absent where nobody said."""

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
    """Something that could be configured. `where` is the variable, the address or the program; `models` are the names that a
    server offers. `settings` are the lines that configure it: of settings.toml, or of an agent's file for an agent; `entry` is
    the same as an entry of `models`, and empty for an agent. Where there are none, `why` says what is missing. `configured`
    says that it is in use already."""

    kind: DetectedKind
    name: str
    where: str
    models: tuple[str, ...] = ()
    settings: str = ""
    entry: dict[str, str] = {}
    why: str = ""
    configured: bool = False


class ModelTestResult(Answer, frozen=True, kw_only=True):
    """What came of asking: `text` is the answer, or `problem` says what went wrong and what to do. Times are from the
    question on, in milliseconds; what the provider did not tell of tokens and price (US dollars) is absent."""

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
    """Send a short question to a model and report the answer or the error.

    `name` is an entry of `list_models`: `PROVIDER/MODEL` or `MODEL`. It defaults to the default model.
    """

    name: Annotated[str, Meta(max_length=300)] = ""


class RoutePreview(Answer, frozen=True, kw_only=True):
    """`model` is asked first, as `PROVIDER/MODEL`. `images` says that it or a fallback takes attached images: `submit_turn`
    refuses them otherwise. `running_model` is the model of the turn under way, empty for none, and `running_images` says the
    same of input that is steered into it."""

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
