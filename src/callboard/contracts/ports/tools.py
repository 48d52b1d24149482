"""What an agent can do: tools, and the one gate in front of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from ..content import Blob, BlobRef
from ..errors import Code
from ..facts.action import ApprovalScope, Binding
from ..facts.permission import Check, Risk, Rule, Verdict
from ..facts.sandbox import SandboxApplied
from ..facts.tool import FileChange
from ..facts.turn import Mode, PermissionMode
from ..settings import Server, Shell
from ..team import Policy
from .model import ToolSpec


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """On whose behalf and under which limits a call is made. `folder` is absolute with symlinks resolved.

    `tools` is the agent's list (`("*",)` is everything, `()` nothing); `rules` are those that hold, workspace's and session's.
    `teamwork` names the tools of a team that could mean something to this agent. A change must
    be within the `work_globs` of its definition, and within `given_globs`, those that its parent named (empty for everywhere);
    one that is `read_only` writes nothing. `trusted` says that a person trusts the folder; `shell` is what a command may take,
    `servers` are those that bring tools.
    """

    folder: str
    agent: str
    definition_hash: str
    tools: tuple[str, ...]
    policy: tuple[Policy, ...]
    mode: Mode
    permission_mode: PermissionMode
    rules: tuple[Rule, ...] = ()
    teamwork: tuple[str, ...] = ()
    work_globs: tuple[str, ...] = ()
    given_globs: tuple[str, ...] = ()
    read_only: bool = False
    trusted: bool = False
    shell: Shell = Shell()
    servers: tuple[Server, ...] = ()


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the model wrote it: `arguments` is JSON text that nobody has checked yet."""

    call_id: str
    tool: str
    arguments: str


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """The gate's verdict on a call, with all that the facts and the approval card say of it.

    `arguments` is the final canonical JSON. `code` and `message` are set where the verdict is deny, and go back to the model.
    `binding` is what an approval is given for; `matchers` the rules that wider scopes would make; `preview` shows the change
    (a unified diff, or the command) to the person who decides. `summary` is one line for the tool row.
    """

    verdict: Verdict
    risk: Risk
    read_only: bool
    arguments: str
    arguments_hash: str
    summary: str
    checks: tuple[Check, ...]
    code: Code | None = None
    message: str = ""
    prompt: str = ""
    preview: str = ""
    binding: Binding | None = None
    scopes: tuple[ApprovalScope, ...] = ()
    matchers: dict[ApprovalScope, str] = msgspec.field(default_factory=dict[ApprovalScope, str])
    sandbox: SandboxApplied | None = None


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came to. `code` is None for success. `output` is the whole output as text; large output is split by the
    runtime. `blobs` hold the contents that `changes` and `images` refer to; `images` are what the call showed."""

    output: str
    code: Code | None = None
    message: str = ""
    exit_code: int | None = None
    duration_ms: int = 0
    changes: tuple[FileChange, ...] = ()
    blobs: tuple[Blob, ...] = ()
    images: tuple[BlobRef, ...] = ()


class Toolbox(Protocol):
    """All tools of a workspace behind the one gate."""

    def specs(self, context: ToolContext) -> tuple[ToolSpec, ...]:
        """The tools that this agent is told of, by name."""
        ...

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        """Passes the call through the gate. Runs nothing and changes nothing."""
        ...

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, output: Callable[[str], None]
    ) -> ToolOutcome:
        """Runs a call that the gate or a person let through, with the evaluation's final arguments.

        `output` is told pieces of output as they come. Where an approval's binding no longer holds (the file changed) the
        outcome has the code `file_changed` and nothing was done. Cancelling the task ends what the call started,
        with all its children.
        """
        ...

    async def source(self, path: str, context: ToolContext) -> str:
        """The text of a file as it stands, for a read that the gate let through. Raises Refusal."""
        ...


Arguments = dict[str, Any]
