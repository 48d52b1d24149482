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


#: The package of view states, which change but refer to nothing that refers to them.
VIEWS = "callboard.projection"


def list_structs(kind: type[msgspec.Struct] = msgspec.Struct) -> Iterator[type[msgspec.Struct]]:
    """Yield all structs below a class."""
    for child in kind.__subclasses__():
        yield child
        yield from list_structs(child)


def list_visited(package: str, structs: list[type[msgspec.Struct]]) -> list[str]:
    """Return the structs of the package that a collection visits."""
    return [kind.__qualname__ for kind in structs if kind.__module__.startswith(package) and kind.__struct_config__.gc]


@pytest.mark.parametrize("package", [*PACKAGES, *MODULES])
def test_the_garbage_collector_skips_immutable_values(package: str):
    """Facts, rows and states have no cycles, so that a thousand open sessions cost a collection little."""
    for module in walk_packages(getattr(import_module(package), "__path__", ()), f"{package}."):
        import_module(module.name)
    values = [kind for kind in list_structs() if kind.__struct_config__.frozen]
    assert list_visited(package, values) == []
    assert any(kind.__module__.startswith(package) for kind in values)


def test_the_garbage_collector_skips_the_states_of_views():
    """Each session that was ever folded keeps thirty, and its rows need no collection either."""
    for module in walk_packages(import_module(VIEWS).__path__, f"{VIEWS}."):
        import_module(module.name)
    structs = list(list_structs())
    assert list_visited(VIEWS, structs) == []
    assert any(kind.__module__.startswith(VIEWS) for kind in structs)
