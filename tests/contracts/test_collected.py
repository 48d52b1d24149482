"""Values that the garbage collector skips."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import msgspec
import pytest

#: Packages of immutable values. An open session keeps hundreds, and each full collection would visit them.
PACKAGES = ("callboard.contracts.facts", "callboard.contracts.rows", "callboard.control.state")
MODULES = ("callboard.contracts.record", "callboard.contracts.scope", "callboard.contracts.content")


def list_values(kind: type[msgspec.Struct] = msgspec.Struct) -> Iterator[type[msgspec.Struct]]:
    """Yield all frozen structs below a class."""
    for child in kind.__subclasses__():
        if child.__struct_config__.frozen:
            yield child
        yield from list_values(child)


@pytest.mark.parametrize("package", [*PACKAGES, *MODULES])
def test_the_garbage_collector_skips_immutable_values(package: str):
    """Facts, rows and states have no cycles, so that a thousand open sessions cost a collection little."""
    for module in walk_packages(getattr(import_module(package), "__path__", ()), f"{package}."):
        import_module(module.name)
    visited = [
        kind.__qualname__ for kind in list_values() if kind.__module__.startswith(package) and kind.__struct_config__.gc
    ]
    assert visited == []
    assert any(kind.__module__.startswith(package) for kind in list_values())
