"""Address and credential of a running Callboard."""

from __future__ import annotations

import ssl

import msgspec


class ModelMark(msgspec.Struct, frozen=True):
    """Keyed hashes of a model and its key, by which two processes compare them without revealing either."""

    model: str
    key: str


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Address and token of a running Callboard, as `endpoint.json` in the state folder stores them.

    Attributes:
        url: Base URL, such as `http://127.0.0.1:4747`.
        token: Bearer token of this start. The representation omits it.
        epoch: Number of processes that have written to the store.
        stays: False if the process serves one `callboard run` and ends with it.
        model: Label of the default model.
        models: Marks of all models in use; None if the process is of a version without marks.
    Example:
        endpoint = msgspec.json.decode(Path("~/.local/state/callboard/endpoint.json").expanduser().read_bytes(), type=Endpoint)
    """

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


def build_loopback_context() -> ssl.SSLContext:
    """Return a TLS context without certificates for clients of loopback, which use plain HTTP.

    Loading the system's certificates takes longer than a request.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
