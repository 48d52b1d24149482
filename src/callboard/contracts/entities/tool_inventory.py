"""Description of a tool before a call: its availability, with the reason, and its behaviour."""

from __future__ import annotations

from typing import Literal

import msgspec

#: `loaded`: the model sees it. `deferred`: the model can find it. `blocked`: unavailable at
#: present. `excluded`: by the agent's list, its policy or the mode.
Availability = Literal["loaded", "deferred", "blocked", "excluded"]
#: `parallel` calls of one response run in parallel; `serial` ones run one after the other.
Concurrency = Literal["parallel", "serial"]
#: Effect of an interrupt on a running call: it ends immediately, or its server is asked to stop and may
#: continue.
Interruption = Literal["ended", "asked"]


class ToolInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A tool as one agent has it.

    `source` is `folder`, `team`, or `mcp:` and the server's name. `reason` explains why it is not
    loaded. `destructive`: its effect may be permanent. A server's claims about `destructive` and
    `read_only` decide nothing alone.
    """

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
#: `connecting` continues in the background. A `lost` server is tried again at its next use. An
#: `idle` server was not needed yet.
ServerCondition = Literal["idle", "connecting", "connected", "lost"]


class ServerState(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The current state of a tool server.

    `name` is its name in the settings; `title`, `version` and `protocol` are its own. `refused` of
    its `tools` are invalid, for the reasons in `refusals`. `prompts` are the names of its prompts,
    which agents cannot use. `code` and `message` explain a loss; `said` is the end of its
    diagnostic output.
    """

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
