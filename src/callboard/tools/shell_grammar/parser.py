"""Parser of shell commands: simple commands with their words as the program receives them."""

from __future__ import annotations

import codecs
import re
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter
import tree_sitter_bash

#: Maximum length of a parsed text.
MAX_TEXT_CHARS = 32 * 1024
#: Maximum CPU time, in seconds. Hostile texts can take quadratic time.
PATIENCE_SECONDS = 0.05
#: Size of the pieces that the parser requests, in bytes. It can be stopped only when it requests one.
_PIECE = 4096
_BASH = tree_sitter.Language(tree_sitter_bash.language())
#: Characters that make a word depend on files and variables.
_EXPANDS = re.compile(r"(?<!\\)[*?\[{~]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\([$`\"\\])")
_CONTINUATION = "\\\n"
#: The grammar's scanner corrupts memory on non-ASCII characters. bash treats them as letters, so a name replaces each
#: during parsing.
_UNUSUAL = re.compile(r"[^\t\n\x20-\x7e]")
_NAME_OF_UNUSUAL = re.compile(r"_CbU([0-9A-F]{1,6})_")
#: Nodes of a program with its arguments.
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
#: Children of a command that are neither its program nor an argument.
_NOT_ARGUMENTS = frozenset({"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"})
_INPUT = frozenset({"heredoc_body", "herestring_redirect"})

Word = str | None
"""A word as the program receives it; None if only the shell can evaluate it."""


class SimpleCommand(NamedTuple):
    """A program with its arguments. `words` is never empty."""

    words: tuple[Word, ...]
    is_piped: bool = False
    """Return True if it reads another command's output, or a here-document."""


class Script(NamedTuple):
    """Content of a shell text.

    Attributes:
        commands: Simple commands at any depth: lists, pipes, loops, functions, substitutions.
        inputs: Texts of here-documents and here-strings; None for one that only the shell can evaluate.
        assignments: Names of variables with their values.
        is_plain: One simple command without assignment, redirection, substitution or second line.
        is_complete: The whole text was parsed.
    """

    commands: tuple[SimpleCommand, ...]
    inputs: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...]
    is_plain: bool
    is_complete: bool


_UNREAD = Script((), (), (), is_plain=False, is_complete=False)


def parse(text: str) -> Script:
    """Parse a shell text with the grammar of bash. An invalid, long or slow text is incomplete.

    Example:
        parse("cd a && git push").commands[1].words == ("git", "push")
    """
    end = time.thread_time() + PATIENCE_SECONDS
    tree = _parse_tree(text, end)
    if tree is None:
        return _UNREAD
    root = tree.root_node
    commands: list[SimpleCommand] = []
    inputs: list[Word] = []
    assignments: list[tuple[str, Word]] = []
    for node, is_piped in _walk(root):
        if node.type in _COMMANDS:
            words = tuple(_list_words(node))
            if words:
                commands.append(SimpleCommand(words, is_piped))
        elif node.type in _INPUT:
            inputs.append(_read_input(node))
        elif node.type == "variable_assignment":
            name, _, _ = _read_text(node).partition("=")
            assignments.append((name, _evaluate(node.named_children[-1])))
        if time.thread_time() > end:
            return _UNREAD
    statements = root.named_children
    is_plain = len(statements) == 1 and statements[0].type == "command" and len(commands) == 1
    is_plain = is_plain and all(child.type not in _NOT_ARGUMENTS for child in statements[0].named_children)
    return Script(tuple(commands), tuple(inputs), tuple(assignments), is_plain, not root.has_error)


def _parse_tree(text: str, end: float) -> tree_sitter.Tree | None:
    if len(text) > MAX_TEXT_CHARS or "\0" in text:
        return None
    data = _UNUSUAL.sub(lambda match: f"_CbU{ord(match[0]):X}_", text.replace(_CONTINUATION, "")).encode()
    try:
        # Another thread may parse during a callback, so each call has its own parser.
        return tree_sitter.Parser(_BASH).parse(
            lambda offset, _: data[offset : offset + _PIECE], progress_callback=lambda _, __: time.thread_time() > end
        )
    except ValueError:
        # The callback stopped the parser.
        return None


def count_commands(text: str) -> int:
    """Count the simple commands of a text at any depth; 0 if it cannot be parsed completely."""
    script = parse(text)
    return len(script.commands) if script.is_complete else 0


def _walk(root: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, bool]]:
    """Yield every node in order, and whether its standard input is another command's output or a text."""
    pending = [(root, False)]
    while pending:
        node, is_piped = pending.pop()
        yield node, is_piped
        is_fed = is_piped or (node.type == "redirected_statement" and _has_input(node))
        children = [
            (child, (is_fed or (node.type == "pipeline" and index > 0)) and child.type not in _INPUT)
            for index, child in enumerate(node.named_children)
        ]
        pending += reversed(children)


def _has_input(node: tree_sitter.Node) -> bool:
    return any(child.type in ("heredoc_redirect", "herestring_redirect") for child in node.named_children) or any(
        child.type == "file_redirect" and (child.text or b"").lstrip(b"0").startswith(b"<")
        for child in node.named_children
    )


def _list_words(node: tree_sitter.Node) -> Iterator[Word]:
    if node.type != "command":
        # For `export`, `declare` and `unset` the first word is a keyword of the grammar.
        yield _read_text(node).split(maxsplit=1)[0]
    for child in node.named_children:
        if child.type not in _NOT_ARGUMENTS:
            yield _evaluate(child)


def _evaluate(node: tree_sitter.Node) -> Word:
    text = _read_text(node)
    match node.type:
        case "command_name":
            return _evaluate(node.named_children[0]) if node.named_children else text
        case "word":
            return None if _EXPANDS.search(text) else _ESCAPE.sub(r"\1", text)
        case "number":
            return text
        case "raw_string":
            return text[1:-1]
        case "string" | "translated_string":
            return _evaluate_quoted(node, text)
        case "ansi_c_string":
            return _decode_ansi(text[2:-1])
        case "concatenation":
            parts = [_evaluate(child) for child in node.named_children]
            # Text between the parts that is not a node, such as a brace, expands.
            whole = sum(len(_read_text(child)) for child in node.named_children) == len(text)
            return "".join(part for part in parts if part is not None) if whole and None not in parts else None
        case _:
            return None


def _evaluate_quoted(node: tree_sitter.Node, text: str) -> Word:
    if node.type == "translated_string":
        return _evaluate(node.named_children[0])
    if any(child.type != "string_content" for child in node.named_children):
        return None
    return _ESCAPE_IN_QUOTES.sub(r"\1", text[1:-1])


def _decode_ansi(text: str) -> Word:
    try:
        return codecs.decode(text, "unicode_escape") if text.isascii() else None
    except UnicodeDecodeError:
        return None


def _read_input(node: tree_sitter.Node) -> Word:
    if node.type == "heredoc_body":
        return _read_text(node)
    children = node.named_children
    return _evaluate(children[0]) if children else None


def _read_text(node: tree_sitter.Node) -> str:
    return _NAME_OF_UNUSUAL.sub(_decode_unusual, (node.text or b"").decode())


def _decode_unusual(name: re.Match[str]) -> str:
    code = int(name[1], 16)
    return chr(code) if code <= sys.maxunicode else name[0]
