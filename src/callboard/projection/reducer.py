"""Reducers, which dispatch each fact to its handler, and the row operations that they return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar, get_args, get_type_hints

import msgspec

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.base import ErasedFact, Fact, UnknownFact
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op, Remove, Row, Upsert

_MARK = "handles_facts"
OwnerT = TypeVar("OwnerT")
FactT = TypeVar("FactT", bound=Fact)
ResultT = TypeVar("ResultT")
ContextP = ParamSpec("ContextP")
_Handler = Callable[Concatenate[OwnerT, Record, FactT, ContextP], ResultT]
#: Handlers by the type of fact.
Handlers = Mapping[type[Fact], Callable[..., Any]]
FactTypes = Collection[type[Fact]]
#: A panel's facts, and the row operations that it returns for one of them.
Step = tuple[FactTypes, Callable[[OwnerT, Record], list[Op]]]
#: Every type that the fact of a record can have.
EVERY_FACT: FactTypes = (*FACTS.values(), UnknownFact, ErasedFact)


def on(
    handler: _Handler[OwnerT, FactT, ContextP, ResultT],
) -> _Handler[OwnerT, FactT, ContextP, ResultT]:
    """Mark the handler of the facts that annotate its parameter `fact`."""
    setattr(handler, _MARK, True)
    return handler


def collect_handlers(*namespaces: Mapping[str, object]) -> Handlers:
    """Collect the marked handlers of classes or modules.

    Raises:
        TypeError: Two handlers handle one fact.
    """
    handlers: dict[type[Fact], Callable[..., Any]] = {}
    for handler in [handler for namespace in namespaces for handler in namespace.values()]:
        if callable(handler) and hasattr(handler, _MARK):
            annotation = get_type_hints(handler)["fact"]
            for fact in get_args(annotation) or (annotation,):
                if fact in handlers:
                    raise TypeError(f"Two handlers of {fact.__name__}: {handlers[fact]} and {handler}. Keep one.")
                handlers[fact] = handler
    return handlers


class Reducer(msgspec.Struct, gc=False):
    """State that changes with the facts that its methods with `@on` handle.

    `FACTS` has these facts, and those of the reducers and handlers in `USES`. An empty default, such
    as `msgspec.field(default={})`, is new in each instance. The garbage collector skips reducers, so
    their state must not refer back to them.
    """

    HANDLERS: ClassVar[Handlers] = {}
    USES: ClassVar[tuple[FactTypes, ...]] = ()
    FACTS: ClassVar[frozenset[type[Fact]]] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.HANDLERS = collect_handlers(vars(cls))
        cls.FACTS = frozenset(cls.HANDLERS).union(*cls.USES)

    def handle(self, record: Record, *context: Any) -> Any:
        """Return the result of the fact's handler; None without a handler. The handler receives `context` too."""
        handler = self.HANDLERS.get(type(record.fact))
        return None if handler is None else handler(self, record, record.fact, *context)


class Panel(Reducer):
    """A reducer whose handlers return row operations."""

    def apply(self, record: Record, *context: Any) -> list[Op]:
        """Return the row operations of the fact. The handler receives `context` too."""
        handler = self.HANDLERS.get(type(record.fact))
        return [] if handler is None else handler(self, record, record.fact, *context)


def map_steps(*steps: Step[OwnerT]) -> dict[type[Fact], tuple[Callable[[OwnerT, Record], list[Op]], ...]]:
    """Return the steps that each fact takes, in their order."""
    return {fact: tuple(step for facts, step in steps if fact in facts) for fact in EVERY_FACT}


def upsert(*rows: Row) -> list[Op]:
    """Return operations that insert or replace the rows."""
    if len(rows) == 1:
        return [Upsert(rows[0].panel, rows[0])]
    return [Upsert(row.panel, row) for row in rows]


def remove(kind: type[Row], key: str) -> list[Op]:
    """Return the operation that removes a row."""
    return [Remove(panel=kind.panel, key=key)]
