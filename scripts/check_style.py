"""Checks sizes, names and texts: `check_style.py [ROOT]`. It prints each breach and exits with 1 if there is any.

The rules are those of CONTRIBUTING.md: at most 400 lines in a file and 20 files in a folder, no file below 30 lines without a
reason, no vague names, no word that has a plainer one, and no error without a next step. Sizes and errors are checked in the
package, names and texts also in tests, benchmarks and scripts.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LARGE, SMALL, SIBLINGS = 400, 30, 20
SOURCE = Path("src/callboard")
#: Folders with checked names and texts.
_CHECKED = (SOURCE, Path("tests"), Path("bench"), Path("scripts"))
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
_VAGUE_NAMES = frozenset("found given giving known one said shown telling told".split())
#: Further names that only the package may use; attributes and aliases are checked outside of it, too.
_VAGUE_OUTSIDE = _VAGUE_NAMES | frozenset("asked came kept made taken whose".split())
AVOIDED_WORDS = re.compile(
    r"\b(?:tells?|told|nobody|whoever|shall|mends?|mended|stands|stood|(?<!there )(?-i:is none)|those that|that of|as usual"
    r"|the usual|cut short|cut off|let through|goes on|so many|so often|wherefore|take up again|an agent elsewhere)\b",
    re.IGNORECASE,
)
#: Words that a file quotes, with the reason.
_QUOTED_WORDS = {
    "bench/rigs/conversation.py": "the content of a measured turn, whose bytes stay the same",
    "scripts/check_style.py": "the list of these words",
    "src/callboard/models/offline/words.py": "common words, which a search skips",
    "tests/packaging/test_style.py": "examples of breaches",
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
    for path in _modules(root, SOURCE):
        lines = path.read_text("utf-8").count("\n")
        name = path.relative_to(root / SOURCE).as_posix()
        siblings[path.parent] += 1
        if lines > LARGE:
            yield f"{SOURCE / name}: {lines} lines. Split it: {LARGE} is the most."
        if lines < SMALL and path.name not in {"__init__.py", "__main__.py"} and name not in _SMALL_MODULES:
            yield f"{SOURCE / name}: {lines} lines. Merge it, or give the reason in scripts/check_style.py."
    for folder, count in sorted(siblings.items()):
        if count > SIBLINGS:
            yield f"{folder.relative_to(root).as_posix()}: {count} files. Split the folder: {SIBLINGS} is the most."


def _names(root: Path) -> Iterator[str]:
    for path in _modules(root, *_CHECKED):
        tree = ast.parse(path.read_text("utf-8"))
        wire_names = _fields(tree) if "contracts" in path.parts else set[ast.AST]()
        is_package = path.is_relative_to(root / SOURCE)
        vague_names = _VAGUE_NAMES if is_package else _VAGUE_OUTSIDE
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
            if name.strip("_").lower() in vague_names:
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
        yield from _avoided(path.relative_to(root), python_texts(path.read_text("utf-8")))
    for path in sorted((root / "web/src/system/i18n/en").glob("*.ts")):
        yield from _avoided(path.relative_to(root), enumerate(path.read_text("utf-8").splitlines(), start=1))


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and strings of a Python module, docstrings included, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _avoided(path: Path, texts: Iterator[tuple[int, str]]) -> Iterator[str]:
    for line, text in texts:
        for word in AVOIDED_WORDS.findall(text):
            if path.as_posix() not in _QUOTED_WORDS:
                yield f"{path.as_posix()}:{line}: avoid “{word}”."


if __name__ == "__main__":
    sys.exit(main())
