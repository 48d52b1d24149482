"""Tools of servers in the gate: arguments, availability, confinement and risk."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Risk
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.tools import Evaluation, Reporter, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.text.sentences import clause

from ..arguments import LARGEST, digest
from ..call_binding import changed, check_binding
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


def decode(offered: ToolOffer, text: str) -> McpTool:
    """Decode the model's JSON and check it against the tool's schema. Raises Refusal `tool_arguments`."""
    if len(text) > LARGEST:
        raise Refusal("tool_arguments", f"The arguments are larger than {LARGEST:,} characters.")
    try:
        values = msgspec.json.decode(text.strip() or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        raise Refusal("tool_arguments", f"The arguments are not a JSON object: {error}.") from error
    offered.check(values)
    return McpTool(values=values)


def is_listed(name: str, tools: tuple[str, ...]) -> bool:
    """Return True if the agent's list has the tool by the pattern of its server."""
    return is_server_tool(name) and any(one.endswith("__*") and name.startswith(one[:-1]) for one in tools)


def explain_missing(name: str, brought: McpCatalog) -> Refusal:
    """Return why a server's tool is unavailable."""
    shown = display(name)
    why = next((why for part, (_, why) in brought.missing.items() if name.startswith(f"{PREFIX}{part}__")), "")
    if why:
        return Denial("server_unavailable", reason("server_gone", tool=shown, why=clause(why)))
    if name in brought.excluded:
        return Denial("tool_not_listed", reason("left_out", tool=shown))
    return Denial("tool_unknown", reason("not_of_server", tool=shown))


def to_sandbox(offered: ToolOffer) -> SandboxApplied:
    """Return the confinement of a server's call: none."""
    what = "is elsewhere" if offered.is_remote else "is a program of its own"
    return SandboxApplied(
        level="none",
        network=True,
        writable=() if offered.is_remote else ("/",),
        detail=f"the server {offered.server} {what}: nothing here holds it in",
    )


def assess_risk(offered: ToolOffer) -> Risk:
    """Return the risk of a call. A server's annotation can raise it but never lower it."""
    return "high" if offered.destructive and not offered.read_only else "medium"


async def run(
    call: ToolCall, evaluation: Evaluation, context: ToolContext, servers: ToolServers, reporter: Reporter
) -> ToolOutcome:
    """Run an allowed call. Raises Refusal if the call or the tool's declaration changed after approval."""
    if evaluation.verdict == "deny":
        raise Refusal(evaluation.code or "policy_denied", evaluation.message)
    brought = servers.read_catalog(context)
    offered = brought.offers.get(call.tool)
    if offered is None:
        raise explain_missing(call.tool, brought)
    binding = evaluation.binding
    if binding is None or binding.declared != offered.digest:
        raise changed("The server's declaration of the tool")
    decoded = decode(offered, call.arguments)
    check_binding(call, evaluation, context, digest(decoded.canonical()))
    return await servers.call(context, offered, decoded.values, reporter)
