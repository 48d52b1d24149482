"""Agents that are programs of their own: which conversation of theirs a thread is."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import AgentConnected, AgentDisconnected

from ..state import ExternalLink, Session
from .place import Place, change_thread


def connected(state: Session, fact: AgentConnected, place: Place) -> Session:
    link = ExternalLink(provider_session=fact.provider_session_id, connected=True)
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, external=link))


def disconnected(state: Session, fact: AgentDisconnected, place: Place) -> Session:
    link = ExternalLink(provider_session=fact.provider_session_id, connected=False)
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, external=link))
