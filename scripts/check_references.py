"""Checks names in backticks: `check_references.py [ROOT]`. It prints each stale name and exits with 1 if there is any.

It reads the documents, and the docstrings and comments of the package. A name exists if the code, a setting or a path contains
it. A member must be one of its class, and a name in a named file must be in that file. Code blocks of a document define names
for that document.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path("src/callboard")
_CODE = ("src", "tests", "bench", "scripts", "web")
_CODE_SUFFIXES = {".py", ".ts", ".tsx", ".c", ".toml", ".json", ".js", ".css", ".html"}
#: Folders with the projects, teams and sessions of others, and with generated files.
_SKIPPED = {"node_modules", "dist", "assets", "plays", "presets", "__pycache__", ".venv", ".vite"}
#: Documents about other products, whose names are not in the tree.
_FOREIGN_DOCUMENTS = {"docs/dependencies.md": "libraries that were not chosen"}
#: Names that are not in the tree, with the reason.
_FOREIGN_NAMES = {
    "MAX_": "a prefix",
    "MIN_": "a prefix",
    "unzip": "a program of the system",
    "ThreadNoted": "an example of a recipe",
    "CountLinesArguments": "an example of a recipe",
    "tools/builtin/count_lines.py": "an example of a recipe",
    "contracts/rows/model_calls.py": "an example of a recipe",
    "projection/model_calls.py": "an example of a recipe",
}
#: Names of a server's tools, which only settings define.
_SERVER_TOOL = "mcp__"
_WORD = re.compile(r"[A-Za-z_]\w*")
_REFERENCE = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")
_FILE = re.compile(r"`(\w(?:[\w.-]+/)+[\w.-]+\.(?:py|ts|tsx|md|toml|c))`")
_NAME_IN_FILE = re.compile(r"`([A-Za-z_]\w*)`(?: of [\w `]+)? in `((?:[\w.-]+/)*[\w.-]+\.(?:py|ts|tsx))`")
_FENCE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)


class Tree(NamedTuple):
    """What a reference can name: words of code and paths, files by path, and members of classes."""

    words: set[str]
    files: dict[str, str]
    members: dict[str, set[str]]


def main() -> int:
    """Print the references of the tree at ROOT that lead nowhere. ROOT defaults to the current folder."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    tree = _read_tree(root)
    breaches = list(_check(root, tree))
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


def _read_tree(root: Path) -> Tree:
    words: set[str] = set()
    files: dict[str, str] = {}
    members: dict[str, set[str]] = {}
    bases: dict[str, list[str]] = {}
    for path in _walk(root, *_CODE):
        if path.suffix not in _CODE_SUFFIXES:
            continue
        text = path.read_text("utf-8", "replace")
        files[path.relative_to(root).as_posix()] = text
        words.update(_WORD.findall(_strip_prose(text) if path.suffix == ".py" else text))
        words.update(path.relative_to(root).with_suffix("").parts)
        if path.suffix == ".py" and path.is_relative_to(root / SOURCE):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef):
                    members.setdefault(node.name, set()).update(_list_members(node))
                    bases.setdefault(node.name, []).extend(base.id for base in node.bases if isinstance(base, ast.Name))
    for path in (*root.glob("*"), *_walk(root, "docs")):
        if path.is_file():
            files[path.relative_to(root).as_posix()] = ""
            words.update(_WORD.findall(path.name))
            words.update(_WORD.findall(path.read_text("utf-8")) if path.name in ("Makefile", "pyproject.toml") else ())
    for name, names in bases.items():
        for base in names:
            # A base outside of the package can have any member.
            members[name] |= members.get(base, set()) if base in members else {"*"}
    return Tree(words, files, members)


def _walk(root: Path, *folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not _SKIPPED & set(path.relative_to(root).parts[:-1]):
                yield path


def _list_members(node: ast.ClassDef) -> Iterator[str]:
    for child in ast.walk(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def _strip_prose(source: str) -> str:
    """Return a Python module without docstrings and comments."""
    lines = source.splitlines()
    for first, last, _ in _docstrings(source):
        lines[first - 1 : last] = [""] * (last - first + 1)
    for line, comment in _comments(source):
        lines[line - 1] = lines[line - 1].replace(comment, "")
    return "\n".join(lines)


@cache
def _docstrings(source: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(_find_docstrings(source))


def _find_docstrings(source: str) -> Iterator[tuple[int, int, str]]:
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            match body[0]:
                case ast.Expr(value=ast.Constant(value=str(text))) as first:
                    yield first.lineno, first.end_lineno or first.lineno, text
                case _:
                    pass


@cache
def _comments(source: str) -> tuple[tuple[int, str], ...]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return tuple((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)


def _check(root: Path, tree: Tree) -> Iterator[str]:
    documents = [
        path for path in (*root.glob("*.md"), *_walk(root, "docs"), *root.glob("*/README.md")) if path.suffix == ".md"
    ]
    for path in documents:
        name = path.relative_to(root).as_posix()
        if name in _FOREIGN_DOCUMENTS or name.startswith("docs/reference/"):
            continue
        text = path.read_text("utf-8")
        local = set(_WORD.findall("\n".join(_FENCE.findall(text))))
        yield from _check_text(name, 1, _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text), tree, local)
    for path in _walk(root, SOURCE.as_posix()):
        if path.suffix == ".py":
            source, name = path.read_text("utf-8"), path.relative_to(root).as_posix()
            for first, _, text in _docstrings(source):
                yield from _check_text(name, first, text, tree, set())
            for line, text in _comments(source):
                yield from _check_text(name, line, text, tree, set())


def _check_text(name: str, first: int, text: str, tree: Tree, local: set[str]) -> Iterator[str]:
    for line, content in enumerate(text.splitlines(), first):
        for reference in _REFERENCE.findall(content):
            if not _exists(reference.rstrip("."), tree, local):
                yield f"{name}:{line}: `{reference}` does not exist."
        for file in _FILE.findall(content):
            if file not in _FOREIGN_NAMES and not _find_files(file, tree):
                yield f"{name}:{line}: there is no file `{file}`."
        for symbol, file in _NAME_IN_FILE.findall(content):
            texts = _find_files(file, tree)
            if texts and not any(re.search(rf"\b{symbol}\b", source) for source in texts):
                yield f"{name}:{line}: `{symbol}` is not in `{file}`."


def _exists(reference: str, tree: Tree, local: set[str]) -> bool:
    if reference in _FOREIGN_NAMES or reference.startswith(_SERVER_TOOL):
        return True
    parts = reference.split(".")
    if _find_files(reference, tree):
        return True
    if not all(part in local or part in tree.words or _to_snake_case(part) in tree.words for part in parts):
        return False
    members = tree.members.get(parts[0]) if len(parts) == 2 and parts[0][:1].isupper() else None
    return members is None or "*" in members or parts[1] in members


def _to_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _find_files(file: str, tree: Tree) -> list[str]:
    """Return the texts of the files with this path, or with a path that ends with it."""
    return [text for path, text in tree.files.items() if path == file or path.endswith(f"/{file}")]


if __name__ == "__main__":
    sys.exit(main())
