"""Texts about a call for a person: tool row, approval question and risk."""

from __future__ import annotations

import re

from callboard.contracts.commands.action import AskPersonArguments, ProposePlanArguments
from callboard.contracts.commands.agent import AddEdgeArguments, DefineAgentArguments
from callboard.contracts.commands.subagent import MergeArguments
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.facts.permission import Risk
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.text.exact import mark
from callboard.contracts.text.sentences import sentence

from ..builtin.bash import BashArguments
from ..builtin.finalize import FinalizeArguments
from ..builtin.find_tools import FindToolsArguments
from ..builtin.glob import GlobArguments
from ..builtin.grep import GrepArguments
from ..builtin.read import MOST_LINES, ReadArguments
from ..builtin.read_output import ReadOutputArguments
from ..files.changes import Diff, PlannedChange
from ..files.paths import display
from ..mcp.catalog import McpTool
from ..shell_grammar.parser import count_commands
from ..shell_grammar.spellings import is_destructive_text
from . import team_call_description

_LONGEST = 120
_SPACES = re.compile(r"[ \t]+")
#: Number of characters that show the end of a command.
_END = 40
#: Names whose value is masked in one-line texts.
_NAMES = r"[\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key|authorization)[\w-]*"
_SECRET = re.compile(
    # Only the literal is masked: a substitution, a redirection or a second command behind it stays in sight.
    rf"(?i)((?:--?{_NAMES}[= ]|{_NAMES}[\"']?\s*[=:]\s*)[\"']?(?:(?:bearer|basic)\s+)?)"
    r"(?:[^\s\"';&|$`<>()\\]|\$(?![({]))+"
    r"|\b(sk-|gh[oprsu]_|xox[abp]-|AKIA)[\w-]{8,}"
)


def summary(tool: str, asked: Arguments | None, path: str | None) -> str:
    """Return one line for the tool row."""
    match asked:
        case BashArguments(command=command, description=description):
            said = description or command
        case ReadArguments(offset=offset, limit=limit) if offset > 1 or limit != MOST_LINES:
            said = f"{path}, from line {max(offset, 1)}"
        case GlobArguments(pattern=pattern):
            said = f"{pattern} in {path}" if path else pattern
        case GrepArguments(pattern=pattern):
            said = f"{pattern} in {path}" if path else pattern
        case FinalizeArguments(summary=text):
            said = text
        case FindToolsArguments(query=text):
            said = text
        case ReadOutputArguments(call_id=call, offset=offset):
            said = f"of {call}, from byte {offset}"
        case McpTool():
            said = asked.canonical()
        case _:
            said = team_call_description.describe_team_call(asked) or path or ""
    return f"{tool} {one_line(said)}".rstrip()


def one_line(text: str) -> str:
    """Return the text on one line with secrets masked. A truncated text states the number of
    omitted characters.
    """
    start = text[: _LONGEST * 4]
    shown = display(_SECRET.sub(_masked, " ".join(start.split())), _LONGEST * 4)
    if len(shown) <= _LONGEST and len(start) == len(text):
        return shown
    hidden = max(len(shown) - _LONGEST, 0) + len(text) - len(start)
    return f"{shown[:_LONGEST]}… ({hidden:,} more characters)"


def command_line(command: str) -> str:
    """Return a command on one line for a question: its beginning and its end, line breaks as ⏎, literal secrets masked."""
    lines = [_SPACES.sub(" ", line).strip(" ") for line in command.replace("\r\n", "\n").split("\n")]
    text = _SECRET.sub(_masked, " ⏎ ".join(line for line in lines if line))
    marked = mark(text)
    if len(marked) <= _LONGEST:
        return marked
    hidden = len(marked) - _LONGEST
    return f"{marked[: _LONGEST - _END]} … ({hidden:,} characters) … {marked[-_END:]}"


def prompt(
    tool: str,
    asked: Arguments,
    path: str | None,
    plan: PlannedChange | None,
    found: Diff | None,
    applied: SandboxApplied | None,
    why: str,
) -> str:
    """Return the question on the approval card. `why` has the reasons."""
    if isinstance(asked, ProposePlanArguments | AskPersonArguments):
        return asked.summary if isinstance(asked, ProposePlanArguments) else asked.question
    if plan is not None and found is not None:
        size = f"+{found.added} −{found.removed}"
        what = (
            f"Make {display(plan.path)} ({size})?" if plan.before is None else f"Change {display(plan.path)} ({size})?"
        )
    elif isinstance(asked, BashArguments):
        behind = " in the background" if asked.background else ""
        what = f"Run {count_prefix(count_commands(asked.command))}{command_line(asked.command)}{behind}?"
    else:
        what = f"{summary(tool, asked, path)}?"
    held = _held(applied) if applied is not None and applied.level == "bubblewrap" else ""
    return " ".join(part for part in (what, held, sentence(why)) if part)


def count_prefix(commands: int) -> str:
    """Return the number of commands for a question; 0 means that the text could not be parsed."""
    if commands == 0:
        return "a text that cannot be read as commands: "
    return f"{commands} commands: " if commands > 1 else ""


def _held(applied: SandboxApplied) -> str:
    reach = "it can change files of the folder" if applied.writable else "it cannot write"
    return f"In the sandbox: {reach}, {'with' if applied.network else 'without'} network."


def _masked(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]}***"


def risk(asked: Arguments, plan: PlannedChange | None, protected: str, applied: SandboxApplied | None) -> Risk:
    """Return the risk of a call. A change that can be undone has a lower risk."""
    if protected:
        return "high"
    if plan is not None:
        return "low" if plan.before is None else "medium"
    if isinstance(asked, MergeArguments | DefineAgentArguments | AddEdgeArguments):
        return "medium"
    if isinstance(asked, BashArguments) and applied is not None:
        if applied.level == "none":
            return "high"
        if not applied.writable:
            return "low"
        return "high" if is_destructive_text(asked.command) else "medium"
    return "none"
