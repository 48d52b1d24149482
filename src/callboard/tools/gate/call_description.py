"""Texts about calls for people: tool row, approval question and risk."""

from __future__ import annotations

import re

from callboard.contracts.commands.action import AskPersonArguments, ProposePlanArguments
from callboard.contracts.commands.agent import AddEdgeArguments, DefineAgentArguments
from callboard.contracts.commands.subagent import MergeArguments
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.facts.permission import Risk
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.text.exact import mark
from callboard.contracts.text.sentences import to_sentence

from ..builtin.bash import BashArguments
from ..builtin.finalize import FinalizeArguments
from ..builtin.find_tools import FindToolsArguments
from ..builtin.glob import GlobArguments
from ..builtin.grep import GrepArguments
from ..builtin.read import MAX_LINES, ReadArguments
from ..builtin.read_output import ReadOutputArguments
from ..files.changes import Diff, PlannedChange
from ..files.paths import display
from ..mcp.catalog import McpTool
from ..shell_grammar.parser import count_commands
from ..shell_grammar.spellings import is_destructive_text
from . import team_call_description

_MAX_CHARS = 120
_SPACES = re.compile(r"[ \t]+")
#: Number of displayed characters from the end of a command.
_TAIL = 40
#: Names of values that one-line texts mask.
_NAMES = r"[\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key|authorization)[\w-]*"
_SECRET = re.compile(
    # Mask only the literal. A substitution, a redirection or a second command after it stays visible.
    rf"(?i)((?:--?{_NAMES}[= ]|{_NAMES}[\"']?\s*[=:]\s*)[\"']?(?:(?:bearer|basic)\s+)?)"
    r"(?:[^\s\"';&|$`<>()\\]|\$(?![({]))+"
    r"|\b(sk-|gh[oprsu]_|xox[abp]-|AKIA)[\w-]{8,}"
)


def summarize(tool: str, arguments: Arguments | None, path: str | None) -> str:
    """Describe the call in one line for the tool row."""
    match arguments:
        case BashArguments(command=command, description=description):
            subject = description or command
        case ReadArguments(offset=offset, limit=limit) if offset > 1 or limit != MAX_LINES:
            subject = f"{path}, from line {max(offset, 1)}"
        case GlobArguments(pattern=pattern):
            subject = f"{pattern} in {path}" if path else pattern
        case GrepArguments(pattern=pattern):
            subject = f"{pattern} in {path}" if path else pattern
        case FinalizeArguments(summary=text):
            subject = text
        case FindToolsArguments(query=text):
            subject = text
        case ReadOutputArguments(call_id=call, offset=offset):
            subject = f"of {call}, from byte {offset}"
        case McpTool():
            subject = arguments.canonical()
        case _:
            subject = team_call_description.describe_team_call(arguments) or path or ""
    return f"{tool} {to_one_line(subject)}".rstrip()


def to_one_line(text: str) -> str:
    """Return the text on one line, with secrets masked and truncation counted."""
    start = text[: _MAX_CHARS * 4]
    line = display(_SECRET.sub(_mask, " ".join(start.split())), _MAX_CHARS * 4)
    if len(line) <= _MAX_CHARS and len(start) == len(text):
        return line
    hidden = max(len(line) - _MAX_CHARS, 0) + len(text) - len(start)
    return f"{line[:_MAX_CHARS]}… ({hidden:,} more characters)"


def to_command_line(command: str) -> str:
    """Return the beginning and end of a command on one line: line breaks as ⏎, literal secrets masked."""
    lines = [_SPACES.sub(" ", line).strip(" ") for line in command.replace("\r\n", "\n").split("\n")]
    text = _SECRET.sub(_mask, " ⏎ ".join(line for line in lines if line))
    marked = mark(text)
    if len(marked) <= _MAX_CHARS:
        return marked
    hidden = len(marked) - _MAX_CHARS
    return f"{marked[: _MAX_CHARS - _TAIL]} … ({hidden:,} characters) … {marked[-_TAIL:]}"


def write_question(
    tool: str,
    arguments: Arguments,
    path: str | None,
    plan: PlannedChange | None,
    diff: Diff | None,
    sandbox: SandboxApplied | None,
    why: str,
) -> str:
    """Return the question on the approval card. `why` states the reasons."""
    if isinstance(arguments, ProposePlanArguments | AskPersonArguments):
        return arguments.summary if isinstance(arguments, ProposePlanArguments) else arguments.question
    if plan is not None and diff is not None:
        size = f"+{diff.added} −{diff.removed}"
        question = (
            f"Create {display(plan.path)} ({size})?"
            if plan.before is None
            else f"Change {display(plan.path)} ({size})?"
        )
    elif isinstance(arguments, BashArguments):
        suffix = " in the background" if arguments.background else ""
        question = f"Run {count_prefix(count_commands(arguments.command))}{to_command_line(arguments.command)}{suffix}?"
    else:
        question = f"{summarize(tool, arguments, path)}?"
    confinement = _describe_sandbox(sandbox) if sandbox is not None and sandbox.level == "bubblewrap" else ""
    return " ".join(part for part in (question, confinement, to_sentence(why)) if part)


def count_prefix(commands: int) -> str:
    """Return the number of commands as the beginning of a text; 0 means that parsing failed."""
    if commands == 0:
        return "a text that cannot be parsed as commands: "
    return f"{commands} commands: " if commands > 1 else ""


def _describe_sandbox(sandbox: SandboxApplied) -> str:
    reach = "it can change files of the folder" if sandbox.writable else "it cannot write"
    return f"In the sandbox: {reach}, {'with' if sandbox.network else 'without'} network."


def _mask(match: re.Match[str]) -> str:
    return f"{match[1] or match[2]}***"


def assess_risk(
    arguments: Arguments, plan: PlannedChange | None, protected: str, sandbox: SandboxApplied | None
) -> Risk:
    """Return the risk of a call. A reversible change has a lower risk."""
    if protected:
        return "high"
    if plan is not None:
        return "low" if plan.before is None else "medium"
    if isinstance(arguments, MergeArguments | DefineAgentArguments | AddEdgeArguments):
        return "medium"
    if isinstance(arguments, BashArguments) and sandbox is not None:
        if sandbox.level == "none":
            return "high"
        if not sandbox.writable:
            return "low"
        return "high" if is_destructive_text(arguments.command) else "medium"
    return "none"
