"""Types of facts in the golden stores."""

from __future__ import annotations

from callboard.contracts.facts import FACTS

from . import stores

_ELSEWHERE = "needs an external agent or a remote agent"
_SERVER = "needs a tool server with a program outside the store's folder"
_FAULT = "needs a fault of the disk, of the runtime or of a provider"
_TIME = "needs minutes or days to pass"
_RARE = "has the shape of a stored type, and no run of the maker writes it"
#: Types that no golden store has, each with the reason. Add a new type to `additions`, or here.
MISSING = {
    "action.expired": _TIME,
    "agent.connected": _ELSEWHERE,
    "agent.defined": _RARE,
    "agent.disconnected": _ELSEWHERE,
    "agent.edge.added": _RARE,
    "agent.mode.changed": _ELSEWHERE,
    "artifact.export.progressed": _TIME,
    "artifact.failed": _FAULT,
    "artifact.save.requested": _FAULT,
    "artifact.updated": _RARE,
    "context.compaction.failed": _FAULT,
    "error.raised": _FAULT,
    "handoff.reply.ended": _TIME,
    "model.quota": _FAULT,
    "remote.artifact": _ELSEWHERE,
    "remote.task": _ELSEWHERE,
    "review.applied": _RARE,
    "tool.server.connected": _SERVER,
    "tool.server.lost": _SERVER,
    "warning.raised": _FAULT,
    "workspace.session.trimmed": _TIME,
    "workspace.settings.changed": _RARE,
}


def types(version: str) -> set[str]:
    """Return the types of facts in the golden store of a version."""
    return {name for stream in stores.expected(version)["streams"].values() for name in stream["types"]}


def test_every_type_of_fact_is_in_a_golden_store_or_is_listed_with_the_reason():
    """S2: without a stored example, the shape of a type could change without a failing test."""
    held = {name for version in stores.versions() for name in types(version)}

    assert set(FACTS) - held == set(MISSING)


def test_the_newest_golden_store_has_the_traces_of_a_crash():
    """MAR-16: partials, stored answers, and sessions that were taken over."""
    newest = stores.versions()[-1]

    assert stores.expected(newest)["partials"]
    assert {"session.taken_over", "tool.lost", "thread.paused", "thread.resumed"} <= types(newest)
