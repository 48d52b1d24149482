"""What the server says of itself."""

from __future__ import annotations

import msgspec


class ModelOffer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A model that can be asked. `label` is what a person reads."""

    provider: str
    name: str
    label: str


class WorkspaceOffer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A workspace that was opened; `path` is absolute. `sample` is True of the folder that comes with the product."""

    workspace_id: str
    path: str
    name: str
    sample: bool = False


class DemoOffer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A demo that `start_demo` plays. `title` is what a person reads."""

    name: str
    title: str


class Meta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The version, the writer (`runtimeId` and `epoch`) and the store it writes, the models and the workspaces."""

    version: str
    runtime_id: str
    epoch: int
    store_id: str
    models: tuple[ModelOffer, ...]
    workspaces: tuple[WorkspaceOffer, ...]
    demos: tuple[DemoOffer, ...] = ()
