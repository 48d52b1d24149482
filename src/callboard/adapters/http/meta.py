"""Description of the server."""

from __future__ import annotations

import msgspec


class ModelOffer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An available model. `label` is its name for people."""

    provider: str
    name: str
    label: str


class WorkspaceOffer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An open workspace. `path` is absolute. `sample` is true for the sample folder of the product."""

    workspace_id: str
    path: str
    name: str
    sample: bool = False


class DemoOffer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A demo that `start_demo` starts. `title` is its name for people."""

    name: str
    title: str


class Meta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Version, writer (`runtimeId` and `epoch`), store, models, workspaces and demos of the server."""

    version: str
    runtime_id: str
    epoch: int
    store_id: str
    models: tuple[ModelOffer, ...]
    workspaces: tuple[WorkspaceOffer, ...]
    demos: tuple[DemoOffer, ...] = ()
