"""How a person settles what an agent elsewhere needs, by the call in which it says so."""

from __future__ import annotations

from callboard.contracts.facts.action import ActionType, Decision
from callboard.contracts.ports.external import REMOTE_AUTH, REMOTE_INPUT

NEEDS: dict[str, tuple[ActionType, tuple[Decision, ...]]] = {
    REMOTE_INPUT: ("clarification", ("answer", "reject")),
    REMOTE_AUTH: ("credential_request", ("approve", "reject")),
}
