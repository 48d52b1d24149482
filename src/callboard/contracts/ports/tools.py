"""What an agent can do: tools, and the one gate in front of them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from ..content import Blob, BlobRef
from ..entities.team import Policy
from ..entities.tool_inventory import ServerState, ToolInfo
from ..errors import Code
from ..facts.action import ApprovalScope, Binding
from ..facts.permission import Check, Risk, Rule, Verdict
from ..facts.reason import Reason
from ..facts.sandbox import SandboxApplied
from ..facts.tool import FileChange
from ..facts.turn import Mode, PermissionMode
from ..refs import MissingReason, RefKind
from ..settings import Hook, Server, Shell
from .model import ToolSpec


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """On whose behalf and under which limits a call is made. `folder` is absolute with symlinks resolved.

    `tools` is the agent's list (`("*",)` is everything, `()` nothing); `rules` are those that hold, workspace's and session's.
    `teamwork` names the tools of a team that could mean something to this agent. A change must
    be within the `work_globs` of its definition, and within `given_globs`, those that its parent named (empty for everywhere);
    one that is `read_only` writes nothing. `trusted` says that a person trusts the folder; `shell` is what a command may take,
    `servers` are those that bring tools, and `serves` is the folder that they work for where it is another one: what is trusted
    is that folder, not a worktree of it; the same goes for `hooks`, which are asked about a call, and `held_back`, those in
    whose place a person is. `found` are the tools that are deferred and that the run looked for.
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
    parent_globs: tuple[str, ...] = ()
    read_only: bool = False
    trusted: bool = False
    shell: Shell = Shell()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    changed_hooks: tuple[Hook, ...] = ()
    trusted_folder: str = ""
    loaded_tools: tuple[str, ...] = ()


class HookResult(msgspec.Struct, frozen=True, kw_only=True):
    """What hooks said of a call, as `contracts.facts.permission.HookSaid` tells it; `arguments` are the rewritten, whole."""

    verdict: Verdict
    detail: str = ""
    code: Code | None = None
    arguments: str | None = None
    rewritten_by: str = ""
    reasons: tuple[Reason, ...] = ()


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the model wrote it, or a hook rewrote it: `arguments` is JSON text that nobody has checked yet. Where values
    were put in place of handles, `secrets` names those that a person keeps. `hooked` is what hooks said of it."""

    call_id: str
    tool: str
    arguments: str
    secrets: tuple[str, ...] = ()
    hook_result: HookResult | None = None


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """The gate's verdict on a call, with all that the facts and the approval card say of it.

    `arguments` is the final canonical JSON. `code` and `message` are set where the verdict is deny, and go back to the model.
    `binding` is what an approval is given for; `matchers` the rules that wider scopes would make; `preview` shows the change
    (a unified diff, or the command) to the person who decides. `summary` is one line for the tool row; with `background` the
    call answers as soon as its command runs. `hooked` is what hooks had said of it; `secrets` are the
    names of those that its arguments stand for.
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
    background: bool = False
    hook_result: HookResult | None = None
    secrets: tuple[str, ...] = ()
    commands: int = 0
    """Simple commands of the shell text that would run; 0 for a call without one, and for a text that cannot be read."""
    reasons: tuple[Reason, ...] = ()
    """Why a person is asked, beside the mode and what hooks said; `prompt` says the same in English."""


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came to. `code` is None for success. `output` is the whole output as text; large output is split by the
    runtime. `blobs` hold the contents that `changes` and `images` refer to; `images` are what the call showed. `found`
    are tools that the run is to be told of from now on."""

    output: str
    code: Code | None = None
    message: str = ""
    exit_code: int | None = None
    duration_ms: int = 0
    changes: tuple[FileChange, ...] = ()
    blobs: tuple[Blob, ...] = ()
    images: tuple[BlobRef, ...] = ()
    loaded_tools: tuple[str, ...] = ()


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a server asks a person while a call of it runs. `schema` is the JSON Schema of the answer, an object; None where it
    wants no more than a yes to what it says. `url` is an address that it names; nothing here opens it."""

    server: str
    message: str
    schema: dict[str, Any] | None = None
    url: str = ""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a question: an answer as the person typed it, a no, or nobody answered (in time, or before the turn was
    stopped)."""

    outcome: Literal["answer", "reject", "nothing"]
    answer: str = ""


class Reporter(Protocol):
    """To whom a call tells what comes of it while it runs."""

    def output(self, text: str) -> None:
        """A piece of its output."""
        ...

    def progress(self, done: float, total: float | None, message: str) -> None:
        """How far it is; without `total` nobody knows of how much."""
        ...

    async def ask(self, question: Question) -> Reply:
        """Asks a person. One question of a call waits for the one before it."""
        ...


class PathContent(msgspec.Struct, frozen=True, kw_only=True):
    """What stands under a path, at one moment. `data` is text in UTF-8, an image as it is, or the names in a folder; of other
    files it is empty. `told` says in words what it is and how large."""

    path: str
    kind: RefKind
    data: bytes = b""
    media: str = "text/plain; charset=utf-8"
    description: str = ""


class MissingPath(msgspec.Struct, frozen=True, kw_only=True):
    """Why a path that was named is not given."""

    reason: MissingReason
    detail: str = ""


class Toolbox(Protocol):
    """All tools of a workspace behind the one gate."""

    def list_specs(self, context: ToolContext) -> tuple[ToolSpec, ...]:
        """The tools that this agent is told of, by name."""
        ...

    def list_tools(self, context: ToolContext) -> tuple[ToolInfo, ...]:
        """Every tool that there is, by name, as this agent has it."""
        ...

    def list_servers(self, context: ToolContext) -> tuple[ServerState, ...]:
        """The servers of the context as they are now."""
        ...

    async def prepare(self, context: ToolContext, *, whole: bool = False) -> None:
        """Connects to the servers of the context that are not there, within a bound. One that does not answer by then is
        waited for no more: it may come later. With `whole` each is waited for until it is there or lost."""
        ...

    async def reconnect(self, context: ToolContext, server: str) -> ServerState:
        """Connects to the server anew, within the bound. Raises Refusal `unknown_server`."""
        ...

    def preview_hooks(self, call: ToolCall, context: ToolContext) -> HookResult | None:
        """What is known of the hooks of a call that nobody makes; None where there is none for it. Runs nothing."""
        ...

    async def run_hooks(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """What the hooks say of a new call; None where they say nothing. Their programs are run, and all of them have ended
        when this returns, also where the task is cancelled. What they say may have secrets in it."""
        ...

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        """Passes the call through the gate. Runs nothing and changes nothing: what hooks say, the call brings along."""
        ...

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, reporter: Reporter
    ) -> ToolOutcome:
        """Runs a call that the gate or a person let through, with the evaluation's final arguments.

        `reporter` is told what comes of it meanwhile. Where an approval's binding no longer holds (the file changed) the
        outcome has the code `file_changed` and nothing was done. Cancelling the task ends what the call started,
        with all its children; a server is asked to stop.
        """
        ...

    def read_path(self, path: str, context: ToolContext) -> PathContent | MissingPath:
        """What stands under a path that a person names, by the way and under the rules of a read. Blocks while it reads."""
        ...

    async def find_paths(self, text: str, context: ToolContext, limit: int) -> tuple[str, ...]:
        """Paths of files with this text in them, in any case, shortest first; what rules keep from being read is left out."""
        ...

    async def read_text(self, path: str, context: ToolContext) -> str:
        """The text of a file as it stands, for a read that the gate let through. Raises Refusal."""
        ...

    async def close(self) -> None:
        """Lets go of all servers."""
        ...


Arguments = dict[str, Any]
