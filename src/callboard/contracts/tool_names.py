"""The two spellings of tool names: that of models (`read_output`) and the stored one (`ReadOutput`).

Facts, rules, agent files, hooks and the page have the stored spelling. Names of tool servers have one spelling for everybody.
"""

from __future__ import annotations

from collections.abc import Iterable

from .casing import snake
from .ports.external import CONNECT_AGENT, START_AGENT
from .tools import EVERY_TOOL, TOOL_NAMES, may_be_brought

_RULED = frozenset((*TOOL_NAMES, START_AGENT, CONNECT_AGENT, EVERY_TOOL))


def model_name(name: str) -> str:
    """Return the name that models see; a name that is not of ours stays as it is.

    Example:
        model_name("ReadOutput") == "read_output"
    """
    return _MODEL_NAMES.get(name, name)


def stored_name(name: str) -> str:
    """Return the stored name of a tool of ours in any spelling or case; another name stays as it is.

    Example:
        stored_name("read_output") == stored_name("READOUTPUT") == "ReadOutput"
    """
    return _STORED_NAMES.get(_key(name), name)


def is_tool_name(name: str) -> bool:
    """True for a stored name that a tool of Callboard, of an external agent or of a server can have, or `*` for all."""
    return name in _RULED or may_be_brought(name)


def tool_of(matcher: str) -> str:
    """Return the stored name of the tool that a matcher of a rule or a hook names.

    Example:
        tool_of("bash(git *)") == "Bash"
    """
    return stored_name(matcher.partition("(")[0].strip())


def stored_matcher(matcher: str) -> str:
    """Return the matcher of a rule or a hook with its tool in the stored spelling.

    Example:
        stored_matcher("bash(git *)") == "Bash(git *)"
    """
    text = matcher.strip()
    tool, bracket, rest = text.partition("(")
    return f"{stored_name(tool.strip())}{bracket}{rest}"


def spellings_of(names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names for models by stored name, and the stored names by what any spelling has in common.

    Raises:
        ValueError: Two tools would have one name.
    """
    to_model: dict[str, str] = {}
    to_stored: dict[str, str] = {}
    for name in sorted(names):
        other = to_stored.setdefault(_key(name), name)
        if other != name:
            raise ValueError(f"The tools {other} and {name} would have one name. Rename one of them.")
        to_model[name] = snake(name).lower()
    return to_model, to_stored


def _key(name: str) -> str:
    return name.replace("_", "").casefold()


_MODEL_NAMES, _STORED_NAMES = spellings_of(TOOL_NAMES)
