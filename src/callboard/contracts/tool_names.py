"""The two spellings of tool names: for models (`read_output`), and stored (`ReadOutput`).

Facts, rules, agent files, hooks and the page use the stored spelling. Names of server tools have
one spelling.
"""

from __future__ import annotations

from collections.abc import Iterable

from .casing import to_snake_case
from .ports.external import CONNECT_AGENT, START_AGENT
from .tools import EVERY_TOOL, TOOL_NAMES, is_server_tool_name

_RULED = frozenset((*TOOL_NAMES, START_AGENT, CONNECT_AGENT, EVERY_TOOL))


def to_model_name(name: str) -> str:
    """Return the name for models; a name of another tool is unchanged.

    Example:
        to_model_name("ReadOutput") == "read_output"
    """
    return _MODEL_NAMES.get(name, name)


def to_stored_name(name: str) -> str:
    """Return the stored name of a tool of Callboard in any spelling or case; another name is unchanged.

    Example:
        to_stored_name("read_output") == to_stored_name("READOUTPUT") == "ReadOutput"
    """
    return _STORED_NAMES.get(_normalise(name), name)


def is_tool_name(name: str) -> bool:
    """Return True for a valid stored name of a tool, and for `*`, all tools."""
    return name in _RULED or is_server_tool_name(name)


def parse_tool(matcher: str) -> str:
    """Return the stored name of the tool in a matcher of a rule or a hook.

    Example:
        parse_tool("bash(git *)") == "Bash"
    """
    return to_stored_name(matcher.partition("(")[0].strip())


def to_stored_matcher(matcher: str) -> str:
    """Return the matcher of a rule or a hook with its tool in the stored spelling.

    Example:
        to_stored_matcher("bash(git *)") == "Bash(git *)"
    """
    text = matcher.strip()
    tool, bracket, rest = text.partition("(")
    return f"{to_stored_name(tool.strip())}{bracket}{rest}"


def build_spellings(names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names for models by stored name, and the stored names by normalised spelling.

    Raises:
        ValueError: Two tools have one name.
    """
    to_model: dict[str, str] = {}
    to_stored: dict[str, str] = {}
    for name in sorted(names):
        other = to_stored.setdefault(_normalise(name), name)
        if other != name:
            raise ValueError(f"The tools {other} and {name} would have one name. Rename one of them.")
        to_model[name] = to_snake_case(name).lower()
    return to_model, to_stored


def _normalise(name: str) -> str:
    return name.replace("_", "").casefold()


_MODEL_NAMES, _STORED_NAMES = build_spellings(TOOL_NAMES)
