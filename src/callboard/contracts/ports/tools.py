"""Ports of tools, and of the gate that checks each call."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from ..content import Blob, BlobRef
from ..entities.team import Policy
from ..entities.tool_inventory import ServerState, ToolInfo
from ..errors import Code
from ..facts.action import ApprovalScope, Binding
from ..facts.permission import Check, Reason, Risk, Rule, Verdict
from ..facts.tool import FileChange, SandboxApplied
from ..facts.turn import Mode, PermissionMode
from ..refs import MissingReason, RefKind
from ..settings import Hook, Server, Shell
from .model import ToolSpec


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """Agent, folder and limits of a call.

    Attributes:
        folder: Absolute path with symlinks resolved.
        tools: The agent's list. `("*",)` allows every tool, `()` none.
        rules: Effective rules of the workspace and the session.
        teamwork: Team tools that can apply to this agent.
        work_globs: Globs of the definition. A change must match one; empty allows every path.
        parent_globs: Globs set by the parent. A change must match one; empty allows every path.
        read_only: The agent must not write.
        trusted: A person trusts the folder.
        shell: Limits of commands.
        servers: Tool servers of the settings.
        hooks: Hooks that run before a call.
        changed_hooks: Hooks that changed since they were trusted. A person decides instead.
        trusted_folder: Folder whose trust applies, if `folder` is a worktree of it.
        loaded_tools: Deferred tools that the run has loaded.
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
    """Combined decision of the hooks that ran for a call.

    Attributes:
        arguments: The whole rewritten arguments; None if no hook rewrote them.
        rewritten_by: Name of the hook that rewrote them.
    """

    verdict: Verdict
    detail: str = ""
    code: Code | None = None
    arguments: str | None = None
    rewritten_by: str = ""
    reasons: tuple[Reason, ...] = ()


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """Call written by a model or rewritten by a hook.

    Attributes:
        arguments: Unchecked JSON text.
        secrets: Names of stored secrets that replaced handles in the arguments.
        hook_result: Decision of the hooks, if any ran.
    """

    call_id: str
    tool: str
    arguments: str
    secrets: tuple[str, ...] = ()
    hook_result: HookResult | None = None


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict of the gate on a call, with the data for facts and the approval card.

    Attributes:
        arguments: Final canonical JSON.
        summary: One line for the tool row.
        code: Set if the verdict is deny.
        message: Text for the model if the verdict is deny.
        prompt: Question on the approval card.
        preview: Unified diff or command, for the person who decides.
        binding: The exact call and file content that an approval applies to.
        matchers: Rule that each wider approval scope would add.
        background: The call answers as soon as its command runs.
        secrets: Names of secrets in the arguments.
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
    """Number of simple commands in the shell text; 0 for other calls and for unparseable text."""
    reasons: tuple[Reason, ...] = ()
    """Reasons for the question, except the mode and hooks. `prompt` has them in English."""


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a call.

    Attributes:
        output: Whole output as text. The runtime splits large output.
        code: None on success.
        blobs: Contents that `changes` and `images` refer to.
        images: Images that the call returned.
        loaded_tools: Deferred tools that the run can call from now on.
    """

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
    """Question of a tool server to a person during a call.

    Attributes:
        schema: JSON Schema of the answer, an object. None asks for consent only.
        url: Address shown to the person. Callboard never opens it.
    """

    server: str
    message: str
    schema: dict[str, Any] | None = None
    url: str = ""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a question. `nothing` means no answer before the deadline or the interrupt."""

    outcome: Literal["answer", "reject", "nothing"]
    answer: str = ""


class Reporter(Protocol):
    """Receiver of what a call reports while it runs."""

    def report_output(self, text: str) -> None:
        """Report a piece of output."""
        ...

    def report_progress(self, done: float, total: float | None, message: str) -> None:
        """Report progress. Without `total` the amount of work is unknown."""
        ...

    async def ask(self, question: Question) -> Reply:
        """Ask a person. Questions of one call are asked one after the other."""
        ...


class PathContent(msgspec.Struct, frozen=True, kw_only=True):
    """Content of a path at one moment.

    Attributes:
        data: Text in UTF-8, an image, or the names in a folder. Empty for other files.
        description: Kind and size in English.
    """

    path: str
    kind: RefKind
    data: bytes = b""
    media: str = "text/plain; charset=utf-8"
    description: str = ""


class MissingPath(msgspec.Struct, frozen=True, kw_only=True):
    """Reason why a mentioned path has no content."""

    reason: MissingReason
    detail: str = ""


class Toolbox(Protocol):
    """Every tool of a workspace, behind the gate."""

    def list_specs(self, context: ToolContext) -> tuple[ToolSpec, ...]:
        """Return the tools that this agent can see, by name."""
        ...

    def list_tools(self, context: ToolContext) -> tuple[ToolInfo, ...]:
        """Return every tool with its availability for this agent, by name."""
        ...

    def list_servers(self, context: ToolContext) -> tuple[ServerState, ...]:
        """Return the current state of the context's servers."""
        ...

    async def prepare(self, context: ToolContext, *, whole: bool = False) -> None:
        """Connect to the context's disconnected servers.

        Args:
            whole: Wait until each server is connected or lost. Otherwise wait for a bounded time; a
                slow server can connect later.
        """
        ...

    async def reconnect(self, context: ToolContext, server: str) -> ServerState:
        """Connect to a server again, within a bounded time.

        Raises:
            Refusal: `unknown_server`.
        """
        ...

    def preview_hooks(self, call: ToolCall, context: ToolContext) -> HookResult | None:
        """Return what is known about the hooks of a past call; None if no hook matches. Run nothing."""
        ...

    async def run_hooks(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """Run the hooks of a new call and return their result; None if none decides.

        Every hook program has ended when this returns, also after a cancellation. The result may
        contain secrets.
        """
        ...

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        """Pass the call through the gate.

        Run and change nothing. `call.hook_result` has the result of the hooks.
        """
        ...

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, reporter: Reporter
    ) -> ToolOutcome:
        """Run a call that the gate or a person allowed, with the evaluation's final arguments.

        If the approval no longer applies, such as after a file changed, the outcome has the code
        `file_changed` and nothing ran. Cancelling the task ends every process of the call and asks
        a server to stop.

        Args:
            reporter: Receives output, progress and questions.
        """
        ...

    def read_path(self, path: str, context: ToolContext) -> PathContent | MissingPath:
        """Return the content of a path that a person mentions, under the rules of a read. Blocks."""
        ...

    async def find_paths(self, text: str, context: ToolContext, limit: int) -> tuple[str, ...]:
        """Return paths of files that contain this text in any case, shortest first.

        Leave out files that rules protect.
        """
        ...

    async def read_text(self, path: str, context: ToolContext) -> str:
        """Return the current text of a file for an allowed read.

        Raises:
            Refusal: `path_denied` or `tool_failed`.
        """
        ...

    async def close(self) -> None:
        """Disconnect from every server."""
        ...


Arguments = dict[str, Any]
