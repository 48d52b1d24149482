"""Tools of servers in the gate: arguments, availability, confinement and risk."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Risk
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.tools import Evaluation, Reporter, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.text.sentences import to_clause

from ..arguments import CALL_AGAIN, MAX_ARGUMENTS_CHARS, compute_digest
from ..call_binding import check_binding, refuse_changed
from ..files.paths import display
from ..reasons import Denial, reason
from .names import PREFIX, is_server_tool
from .servers import McpCatalog, ToolServers
from .tool_selection import ToolOffer


class McpTool(Arguments, frozen=True, kw_only=True):
    """Arguments of a tool with its own schema."""

    values: dict[str, Any]

    def canonical(self) -> str:
        """Return the canonical JSON of the arguments: sorted keys, no spaces."""
        return msgspec.json.encode(self.values, order="sorted").decode()


def decode(offer: ToolOffer, text: str) -> McpTool:
    """Decode the model's JSON and check it against the tool's schema. Raises Refusal `tool_arguments`."""
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise Refusal(
            "tool_arguments",
            f"The arguments are larger than {MAX_ARGUMENTS_CHARS:,} characters.",
            hint="Put the content into a file in several calls.",
        )
    try:
        values = msgspec.json.decode(text.strip() or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        raise Refusal("tool_arguments", f"The arguments are not a JSON object: {error}.", hint=CALL_AGAIN) from error
    offer.check(values)
    return McpTool(values=values)


def is_listed(name: str, tools: tuple[str, ...]) -> bool:
    """Return True if the agent's list has a pattern for the tool's server."""
    return is_server_tool(name) and any(pattern.endswith("__*") and name.startswith(pattern[:-1]) for pattern in tools)


def explain_missing(name: str, server_tools: McpCatalog) -> Refusal:
    """Return the refusal for an unavailable tool of a server."""
    tool = display(name)
    why = next((why for part, (_, why) in server_tools.missing.items() if name.startswith(f"{PREFIX}{part}__")), "")
    if why:
        return Denial("server_unavailable", reason("server_gone", tool=tool, why=to_clause(why)))
    if name in server_tools.excluded:
        return Denial("tool_not_listed", reason("left_out", tool=tool))
    return Denial("tool_unknown", reason("not_of_server", tool=tool))


def to_sandbox(offer: ToolOffer) -> SandboxApplied:
    """Describe the confinement of a server's call: there is none."""
    location = "is remote" if offer.is_remote else "is a separate program"
    return SandboxApplied(
        level="none",
        network=True,
        writable=() if offer.is_remote else ("/",),
        detail=f"the server {offer.server} {location} outside the sandbox",
    )


def assess_risk(offer: ToolOffer) -> Risk:
    """Return the risk of a call, which a server's annotation can raise but not lower."""
    return "high" if offer.destructive and not offer.read_only else "medium"


async def run(
    call: ToolCall, evaluation: Evaluation, context: ToolContext, servers: ToolServers, reporter: Reporter
) -> ToolOutcome:
    """Run an allowed call. Raises Refusal if the call or the tool's declaration changed after approval."""
    if evaluation.verdict == "deny":
        raise Refusal(evaluation.code or "policy_denied", evaluation.message)
    server_tools = servers.read_catalog(context)
    offer = server_tools.offers.get(call.tool)
    if offer is None:
        raise explain_missing(call.tool, server_tools)
    binding = evaluation.binding
    if binding is None or binding.declared != offer.digest:
        raise refuse_changed("The server's declaration of the tool")
    decoded = decode(offer, call.arguments)
    check_binding(call, evaluation, context, compute_digest(decoded.canonical()))
    return await servers.call(context, offer, decoded.values, reporter)
