"""Checks of sizes, names and texts: `check_style.py [ROOT]`.

It prints each breach and exits with 1 if there is any. The rules are those of CONTRIBUTING.md: at
most 400 lines in a file (550 in tests) and 20 files in a folder, no file of the package below 30
lines without a reason, no vague names of modules or variables, no avoided words in texts, and no
error of the package without a next step. The words are in `web/dev/avoided-words.json`, which the
tests of the page read too.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

LARGE, LARGE_TEST, SMALL, SIBLINGS = 400, 550, 30, 20
SOURCE, TESTS = Path("src/callboard"), Path("tests")
#: Folders with checked names and texts.
_CHECKED = (SOURCE, TESTS, Path("bench"), Path("scripts"))
#: The built page, which contains licences.
_PAGE = SOURCE / "adapters/http/page"
#: Demo projects and generated files, which contain texts of others.
_SKIPPED = {"plays", "generated", "node_modules"}
#: Why a module may have fewer than 30 lines, by its path below the package.
_SMALL_MODULES: dict[str, str] = {
    "adapters/a2a/pace.py": "settings import it without the extra that the other modules need",
    "contracts/entities/arguments.py": "commands and tools share it, and tools import commands",
    "contracts/entities/plan.py": "an entity that facts and rows share",
    "contracts/entities/secret.py": "an entity that ports and commands share",
    "contracts/erased.py": "it needs the registry of facts, which record.py must not import",
    "contracts/facts/evidence.py": "a family of facts",
    "contracts/facts/exchange/inbox.py": "a family of facts",
    "contracts/facts/plan.py": "a family of facts",
    "contracts/rows/plan.py": "the row of an entity",
    "contracts/text/redactor.py": "one function that every layer uses",
    "contracts/text/sentences.py": "three functions that every layer uses",
    "contracts/times.py": "one function that every layer uses",
    "contracts/tools.py": "it joins the names of commands and team tools",
    "contracts/upcasts.py": "the place for the first upcaster",
    "control/decide/turn/queue_eligibility.py": "threads, tasks and children share it",
    "control/state/handoff.py": "the state of an entity",
    "control/state/inbox.py": "the state of an entity",
    "control/state/job.py": "the state of an entity",
    "control/state/process.py": "the state of an entity",
    "control/state/review.py": "the state of an entity",
    "runtime/workspaces/installation.py": "two adapters share it",
    "secrets/repeats.py": "two scanners share it",
    "tools/builtin/finalize.py": "one module for each tool",
    "tools/builtin/glob.py": "one module for each tool",
    "tools/call_binding.py": "the gate and tool servers share it, and the gate imports servers",
    "tools/gate/call_identity.py": "it needs the declarations of tools, which call_binding.py must not import",
}
_WORDS: dict[str, list[str]] = json.loads(
    Path(__file__).parents[1].joinpath("web/dev/avoided-words.json").read_text("utf-8")
)
_VAGUE_NAMES = frozenset(_WORDS["names"])
_VAGUE_MODULES = _VAGUE_NAMES | frozenset(_WORDS["moduleNames"])


def _match_words(words: list[str]) -> re.Pattern[str]:
    """Return a pattern for whole words. Python's None and “there …” are allowed after “is”."""
    return re.compile(rf"\b(?!is None\b)(?<!there (?=is n))(?i:{'|'.join(map(re.escape, words))})\b")


AVOIDED_WORDS = _match_words(_WORDS["texts"])
_AVOIDED_ON_PAGE = _match_words([*_WORDS["texts"], *_WORDS["pageTexts"]])
#: Words that a file quotes, with the reason.
_QUOTED_WORDS = {
    "bench/rigs/conversation.py": "the content of a measured turn, whose bytes stay the same",
    "src/callboard/models/offline/words.py": "common words, which a search skips",
    "tests/packaging/test_style.py": "examples of breaches",
    "tests/spec/behaviours.md": "the specification",
    "tests/secrets/test_dumps.py": "dumps as programs print them",
}


#: Modules with errors that no caller receives as they are, with the reason.
_INNER_ERRORS = {"tools/mcp/servers.py": "its messages are clauses of a server's problem"}
_ERRORS = frozenset({"Refusal", "Problem", "WrongMediaError"})


def main() -> int:
    """Print the breaches of the tree at ROOT, which defaults to the current folder."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    breaches = [*_sizes(root), *_names(root), *_texts(root), *_errors(root)]
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


def _modules(root: Path, *folders: Path) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if not _SKIPPED & set(path.relative_to(root).parts):
                yield path


def _sizes(root: Path) -> Iterator[str]:
    siblings: Counter[Path] = Counter()
    for path in _modules(root, *_CHECKED):
        lines = path.read_text("utf-8").count("\n")
        name = path.relative_to(root)
        most = LARGE_TEST if name.is_relative_to(TESTS) else LARGE
        siblings[name.parent] += 1
        if lines > most:
            yield f"{name.as_posix()}: {lines} lines. Split it: {most} is the most."
        if lines < SMALL and name.is_relative_to(SOURCE) and not _may_be_small(name.relative_to(SOURCE)):
            yield f"{name.as_posix()}: {lines} lines. Merge it, or give the reason in scripts/check_style.py."
    for folder, count in sorted(siblings.items()):
        if count > SIBLINGS:
            yield f"{folder.as_posix()}: {count} files. Split the folder: {SIBLINGS} is the most."


def _may_be_small(name: Path) -> bool:
    return name.name in {"__init__.py", "__main__.py"} or name.as_posix() in _SMALL_MODULES


def _names(root: Path) -> Iterator[str]:
    for path in _modules(root, *_CHECKED):
        for word in set(path.stem.split("_")) & _VAGUE_MODULES:
            yield f"{path.relative_to(root).as_posix()}: “{word}” in the name does not say what the module contains."
        tree = ast.parse(path.read_text("utf-8"))
        wire_names = _fields(tree) if "contracts" in path.parts else set[ast.AST]()
        is_package = path.is_relative_to(root / SOURCE)
        for node in ast.walk(tree):
            if node in wire_names:
                continue
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case ast.Attribute(attr=name, ctx=ast.Store()) | ast.alias(asname=str(name)) if not is_package:
                    pass
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    pass
                case _:
                    continue
            if name.strip("_").lower() in _VAGUE_NAMES:
                yield f"{path.relative_to(root).as_posix()}:{node.lineno}: `{name}` does not say what it is."


def _fields(tree: ast.Module) -> set[ast.AST]:
    """Return the names of fields of Structs. They are wire names, which do not change."""
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {field.target for body in bodies for field in body if isinstance(field, ast.AnnAssign)}


def _errors(root: Path) -> Iterator[str]:
    """Report errors without a next step. An error that repeats the message of another is not checked."""
    for path in _modules(root, SOURCE):
        if path.relative_to(root / SOURCE).as_posix() in _INNER_ERRORS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords) if name in _ERRORS:
                    values = {keyword.arg: keyword.value for keyword in keywords}
                    message = values.get("message", arguments[1] if len(arguments) > 1 else None)
                    if isinstance(message, ast.Constant | ast.JoinedStr) and "hint" not in values:
                        yield f"{path.relative_to(root).as_posix()}:{node.lineno}: `{name}` has no hint with the next step."
                case _:
                    pass


def _texts(root: Path) -> Iterator[str]:
    for path in _modules(root, *_CHECKED):
        source = path.read_text("utf-8")
        is_test = path.is_relative_to(root / TESTS)
        # A string of a test is often an input: what a person, an agent or a program writes.
        yield from _avoided(path.relative_to(root), prose_of(source) if is_test else python_texts(source))
    for path in sorted((root / "web/src/system/i18n/en").glob("*.ts")):
        values = re.sub(r"^ *'?[\w.]+'?:", " ", path.read_text("utf-8"), flags=re.MULTILINE)
        lines = enumerate(values.splitlines(), start=1)
        yield from _avoided(path.relative_to(root), lines, _AVOIDED_ON_PAGE)
    for path in _documents(root):
        yield from _avoided(path.relative_to(root), _document_texts(path))


def _documents(root: Path) -> Iterator[Path]:
    """Yield Markdown files, the Makefile and C files."""
    yield from (path for name in ("*.md", "Makefile") for path in sorted(root.glob(name)))
    for folder in (*_CHECKED, Path("docs"), Path("examples")):
        for suffix in ("*.md", "*.c"):
            for path in sorted((root / folder).rglob(suffix)):
                name = path.relative_to(root)
                if not _SKIPPED & set(name.parts) and not name.is_relative_to(_PAGE):
                    yield path


def _document_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a document, and of other files the comments."""
    text = path.read_text("utf-8")
    if path.suffix == ".c":
        for match in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL):
            yield text.count("\n", 0, match.start()) + 1, match[0]
        return
    is_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if path.suffix == ".md":
            is_code ^= line.lstrip().startswith("```")
        if not is_code and (path.suffix == ".md" or "#" in line):
            yield number, line


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a Python module, each with its line."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and (text := ast.get_docstring(node, clean=False)):
            yield node.body[0].lineno, text
    yield from _comments(source)


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and strings of a Python module, docstrings included, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    yield from _comments(source)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _avoided(path: Path, texts: Iterable[tuple[int, str]], words: re.Pattern[str] = AVOIDED_WORDS) -> Iterator[str]:
    """Yield the avoided words of a file. Names in backticks and braces are code."""
    if path.as_posix() in _QUOTED_WORDS:
        return
    for line, text in texts:
        literal = text if path.suffix == ".ts" else re.sub(r"`[^`\n]*`|\{\w+\}", " ", text)
        for word in words.findall(literal):
            yield f"{path.as_posix()}:{line}: avoid “{word}”."


if __name__ == "__main__":
    sys.exit(main())
