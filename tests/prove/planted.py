"""The product with a fault in it, for the sabotage of a proof: `python planted.py FAULT PYTHON -m callboard ...`.

    no-cascade      the cancel of a parent reaches none of its children
    unsaid:TYPE     facts of that type are decided and never said
    other-words     a pack of evidence tells other payloads than the log has
    short-pack      a pack of evidence lacks the last fact, and its manifest agrees
    open-cage       the sandbox is the whole machine, with its network and its processes
    keep-packs      what is erased stays in the packs that the log keeps
    cut-is-whole    an answer of a model that broke off between two events is taken for a whole one
    bare-pieces     text in the making is shown and kept as it comes, secrets and all
    bare-facts      nothing is redacted but text in the making
    patient         a model may be silent for ever

This is the one module here that imports the product, because it is the product, broken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def plant(fault: str) -> None:
    """Breaks the product. Raises LookupError for a fault that is not known."""
    if fault == "no-cascade":
        _replace("callboard.control.decide.stops", "cancel_all", lambda *_: None)
    elif fault == "open-cage":
        _replace("callboard.tools.sandbox.bubblewrap", "namespaces", lambda **_: ["--die-with-parent"])
        whole = lambda view: ["--dev-bind", "/", "/", "--chdir", view.folder]
        _replace("callboard.tools.sandbox.bubblewrap", "mounts", whole)
    elif fault == "keep-packs":
        _replace("callboard.log.sqlite.removal", "_drop_packs", lambda *_: None)
    elif fault == "cut-is-whole":
        from callboard.models.wire.wire import Wire

        setattr(Wire, "_must_be_whole", lambda *_: None)  # noqa: B010
    elif fault == "patient":
        from callboard.models.wire import wire

        opened = getattr(wire, "_http_client")  # noqa: B009
        forever = {"idle_timeout": 3600.0, "connect_timeout": 3600.0}
        _replace(wire.__name__, "_http_client", lambda endpoint: opened(_with(endpoint, **forever)))
    elif fault == "bare-pieces":
        from callboard.secrets.veil import TextVeil

        setattr(TextVeil, "add", lambda self, piece: piece)  # noqa: B010
        setattr(TextVeil, "rest", lambda self: "")  # noqa: B010
    elif fault == "bare-facts":
        from callboard.secrets.redaction import Redaction

        setattr(Redaction, "redact", lambda self, text: text)  # noqa: B010
        setattr(Redaction, "holds", lambda self, data: False)  # noqa: B010
    elif fault == "short-pack":
        from callboard.evidence.pack import Packer

        facts = Packer.facts
        setattr(Packer, "facts", lambda self, page: facts(self, page[:-1]))  # noqa: B010
    elif fault == "other-words":
        from callboard.evidence import layout

        line_of = layout.line_of
        _replace("callboard.evidence.layout", "line_of", lambda stored, header: line_of(_reworded(stored), header))
    elif fault.startswith("unsaid:"):
        from callboard.control.batch import Batch

        said, unsaid = Batch.say, fault.partition(":")[2]
        setattr(Batch, "say", lambda *told: None if told[1].type == unsaid else said(*told))  # noqa: B010
    else:
        raise LookupError(f"there is no fault {fault}")
    print(f"SABOTAGE: {fault}. This product is broken on purpose.", file=sys.stderr, flush=True)


def _reworded(stored: Any) -> Any:
    return stored if stored.payload is None else stored._replace(payload=stored.payload.replace(b"note", b"nope"))


def _with(endpoint: Any, **changes: Any) -> Any:
    from msgspec.structs import replace

    return replace(endpoint, **changes)


def _replace(module: str, name: str, by: Callable[..., Any]) -> None:
    """Puts something else in the place of a function. Raises AttributeError where there is no such function."""
    found = import_module(module)
    getattr(found, name)
    setattr(found, name, by)


if __name__ == "__main__":
    # The product's own imports are not to find the proofs beside this file.
    sys.path.pop(0)
    plant(sys.argv[1])
    # What a server is started with otherwise: the interpreter and its module.
    sys.argv = ["callboard", *sys.argv[5:]]
    from callboard.app.cli.main import main

    sys.exit(main())
