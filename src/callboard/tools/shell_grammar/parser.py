"""The grammar of a shell command: the simple commands in it, with each word as the shell would pass it on."""

from __future__ import annotations

import codecs
import re
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter
import tree_sitter_bash

#: Longer texts are not parsed.
LONGEST = 32 * 1024
#: Nor are texts that take more seconds of CPU time. Some that no person writes take a time that grows with their square.
PATIENCE_S = 0.05
#: The parser receives a text in pieces of so many bytes, since it can be stopped only where it asks for them by a callback.
_PIECE = 4096
_BASH = tree_sitter.Language(tree_sitter_bash.language())
#: A word with one of these depends on files and variables.
_EXPANDS = re.compile(r"(?<!\\)[*?\[{~]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\([$`\"\\])")
_CONTINUATION = "\\\n"
#: The scanner of the grammar corrupts memory on characters beyond ASCII. bash takes them for letters of a word, as it takes
#: the name that stands for each while the text is parsed.
_UNUSUAL = re.compile(r"[^\t\n\x20-\x7e]")
_NAME_OF_UNUSUAL = re.compile(r"_CbU([0-9A-F]{1,6})_")
#: Nodes that are a program with its arguments.
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
#: Children of a command that are neither its program nor an argument.
_NOT_WORDS = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"})
_INPUT = frozenset({"heredoc_body", "herestring_redirect"})

Word = str | None
"""A word as the program receives it; None if only running the shell could tell."""


class SimpleCommand(NamedTuple):
    """A program with its arguments. `words` is never empty."""

    words: tuple[Word, ...]
    is_piped: bool = False
    """Whether it reads what another command prints, or a here-document."""


class Script(NamedTuple):
    """What a text consists of.

    Attributes:
        commands: Every simple command, at any depth: lists, pipes, loops, functions, substitutions.
        inputs: Texts of here-documents and here-strings; None for one that only the shell could tell.
        assignments: Names of variables with what they are set to.
        is_plain: One simple command and nothing else: no assignment, redirection, substitution or second line.
        is_complete: The whole text was understood.
    """

    commands: tuple[SimpleCommand, ...]
    inputs: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...]
    is_plain: bool
    is_complete: bool


_UNREAD = Script((), (), (), is_plain=False, is_complete=False)


def parse(text: str) -> Script:
    """Parse a shell text with the grammar of bash. A text that is too long or too slow or is no shell text is incomplete.

    Example:
        parse("cd a && git push").commands[1].words == ("git", "push")
    """
    end = time.thread_time() + PATIENCE_S
    tree = _parsed(text, end)
    if tree is None:
        return _UNREAD
    root = tree.root_node
    commands: list[SimpleCommand] = []
    inputs: list[Word] = []
    assignments: list[tuple[str, Word]] = []
    for node, is_piped in _descend(root):
        if node.type in _COMMANDS:
            words = tuple(_words(node))
            if words:
                commands.append(SimpleCommand(words, is_piped))
        elif node.type in _INPUT:
            inputs.append(_input(node))
        elif node.type == "variable_assignment":
            name, _, _ = _text(node).partition("=")
            assignments.append((name, _word(node.named_children[-1])))
        if time.thread_time() > end:
            return _UNREAD
    only = root.named_children
    is_plain = len(only) == 1 and only[0].type == "command" and len(commands) == 1
    is_plain = is_plain and all(child.type not in _NOT_WORDS for child in only[0].named_children)
    return Script(tuple(commands), tuple(inputs), tuple(assignments), is_plain, not root.has_error)


def _parsed(text: str, end: float) -> tree_sitter.Tree | None:
    if len(text) > LONGEST or "\0" in text:
        return None
    data = _UNUSUAL.sub(lambda found: f"_CbU{ord(found[0]):X}_", text.replace(_CONTINUATION, "")).encode()
    try:
        # A parser of its own: while it calls back another thread may parse.
        return tree_sitter.Parser(_BASH).parse(
            lambda offset, _: data[offset : offset + _PIECE], progress_callback=lambda _, __: time.thread_time() > end
        )
    except ValueError:
        # It was stopped.
        return None


def count_commands(text: str) -> int:
    """Count the simple commands of a text, those in substitutions, lists and pipes included. 0 if not all of it can be read."""
    script = parse(text)
    return len(script.commands) if script.is_complete else 0


def _descend(root: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, bool]]:
    """Every node in the order of the text, and whether its standard input is another command's output or a text."""
    waiting = [(root, False)]
    while waiting:
        node, is_piped = waiting.pop()
        yield node, is_piped
        is_fed = is_piped or (node.type == "redirected_statement" and _has_input(node))
        children = [
            (child, (is_fed or (node.type == "pipeline" and index > 0)) and child.type not in _INPUT)
            for index, child in enumerate(node.named_children)
        ]
        waiting += reversed(children)


def _has_input(node: tree_sitter.Node) -> bool:
    return any(child.type in ("heredoc_redirect", "herestring_redirect") for child in node.named_children) or any(
        child.type == "file_redirect" and (child.text or b"").lstrip(b"0").startswith(b"<")
        for child in node.named_children
    )


def _words(node: tree_sitter.Node) -> Iterator[Word]:
    if node.type != "command":
        # `export`, `declare`, `unset`: the first word is a keyword of the grammar.
        yield _text(node).split(maxsplit=1)[0]
    for child in node.named_children:
        if child.type not in _NOT_WORDS:
            yield _word(child)


def _word(node: tree_sitter.Node) -> Word:
    text = _text(node)
    match node.type:
        case "command_name":
            return _word(node.named_children[0]) if node.named_children else text
        case "word":
            return None if _EXPANDS.search(text) else _ESCAPE.sub(r"\1", text)
        case "number":
            return text
        case "raw_string":
            return text[1:-1]
        case "string" | "translated_string":
            return _quoted(node, text)
        case "ansi_c_string":
            return _ansi(text[2:-1])
        case "concatenation":
            parts = [_word(child) for child in node.named_children]
            # What stands between the parts and is no node of its own, such as a brace, expands.
            whole = sum(len(_text(child)) for child in node.named_children) == len(text)
            return "".join(part for part in parts if part is not None) if whole and None not in parts else None
        case _:
            return None


def _quoted(node: tree_sitter.Node, text: str) -> Word:
    if node.type == "translated_string":
        return _word(node.named_children[0])
    if any(child.type != "string_content" for child in node.named_children):
        return None
    return _ESCAPE_IN_QUOTES.sub(r"\1", text[1:-1])


def _ansi(text: str) -> Word:
    try:
        return codecs.decode(text, "unicode_escape") if text.isascii() else None
    except UnicodeDecodeError:
        return None


def _input(node: tree_sitter.Node) -> Word:
    if node.type == "heredoc_body":
        return _text(node)
    children = node.named_children
    return _word(children[0]) if children else None


def _text(node: tree_sitter.Node) -> str:
    return _NAME_OF_UNUSUAL.sub(_unusual, (node.text or b"").decode())


def _unusual(name: re.Match[str]) -> str:
    code = int(name[1], 16)
    return chr(code) if code <= sys.maxunicode else name[0]
