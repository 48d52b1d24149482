"""What is said of a tool before it is called: whether an agent has it, why not, and how it behaves."""

from __future__ import annotations

from typing import Literal

import msgspec

#: `loaded` is told to the model; `deferred` can be had and is not told yet; `blocked` would be there if something else were so;
#: `excluded` by the agent's list, its policy or the mode.
Availability = Literal["loaded", "deferred", "blocked", "excluded"]
#: What the next call waits for: `parallel` calls of one answer run at once, the others one after the other.
Concurrency = Literal["parallel", "serial"]
#: What a stop does to a call that runs: it is ended at once, or its server is asked to and may go on.
Interruption = Literal["ended", "asked"]


class ToolInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One tool as one agent has it. `source` is `folder`, `team`, or `mcp:` and the server's name. `reason` says why it is not
    loaded, and is empty where it is. `destructive` says that what it does may not be undone; both it and `read_only` are
    the word of whoever brings the tool: of a server's they decide nothing alone."""

    name: str
    source: str
    availability: Availability
    reason: str = ""
    description: str = ""
    read_only: bool = False
    destructive: bool = False
    concurrency: Concurrency = "serial"
    interruption: Interruption = "ended"


Transport = Literal["stdio", "http"]
#: `connecting` goes on in the background; `lost` is tried again at its next use; `idle` was not needed yet.
ServerCondition = Literal["idle", "connecting", "connected", "lost"]


class ServerState(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A server of tools as it is now. `name` is that of the settings; `title`, `version` and `protocol` are what it said of
    itself; of its `tools`, so many were `refused` for the reasons in `refusals`. `prompts` are the names of its prompts, which
    no agent can use. `code` and `message` say why it is lost, `said` is the end of its program's diagnostics."""

    name: str
    transport: Transport
    condition: ServerCondition = "idle"
    title: str = ""
    version: str = ""
    protocol: str = ""
    tools: int = 0
    refused: int = 0
    refusals: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    deferred: bool = False
    code: str = ""
    message: str = ""
    said: str = ""
