"""The address and the credential of a running Callboard."""

from __future__ import annotations

import ssl

import msgspec


class ModelMark(msgspec.Struct, frozen=True):
    """By which two processes see whether they mean the same model and key, without telling either."""

    model: str
    key: str


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a running Callboard answers. `epoch` counts the writers of the store; `stays` is False where the process serves one
    `callboard run` and ends with it. `model` is what a person reads of the model that is asked; `models` are the marks of all
    that it uses, None where it is of a version that told none."""

    url: str
    token: str
    pid: int
    epoch: int
    store_id: str
    version: str
    stays: bool = True
    model: str = ""
    models: tuple[ModelMark, ...] | None = None

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, pid={self.pid}, epoch={self.epoch})"


def loopback_context() -> ssl.SSLContext:
    """For clients of loopback, which is plain HTTP: the certificates of the world take longer to load than to be answered."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
