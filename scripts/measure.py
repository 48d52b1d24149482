"""Prints the size and shape of the code: `measure.py [ROOT]`.

It counts files, lines, siblings per folder, and the places that a fact and a command touch. A place is a line of a source
file that names the class or its wire name; imports count, generated files do not.
"""

from __future__ import annotations

import ast
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCES = ("src/callboard", "web/src")
LARGE, SMALL, SIBLINGS = 400, 30, 20
_SKIPPED = {"generated", "node_modules", "page", "plays"}


def main() -> None:
    """Print the figures of the tree at ROOT, which defaults to the current folder."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for folder in SOURCES:
        _print_sizes(root, folder)
    texts = {path: path.read_text("utf-8") for folder in (*SOURCES, "tests") for path in _files(root / folder)}
    _print_places("fact", _facts(root), texts, root)
    _print_places("command", _commands(root), texts, root)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".ts", ".tsx"} and not _SKIPPED & set(path.parts):
            yield path


def _print_sizes(root: Path, folder: str) -> None:
    lines = {path: path.read_text("utf-8").count("\n") for path in _files(root / folder)}
    siblings = Counter(path.parent for path in lines)
    small, large = sum(n < SMALL for n in lines.values()), sum(n > LARGE for n in lines.values())
    crowded = [f"{path.relative_to(root).as_posix()} {n}" for path, n in siblings.most_common() if n > SIBLINGS]
    print(f"{folder}: {len(lines)} files, {sum(lines.values())} lines, median {statistics.median(lines.values()):.0f}")
    print(f"  below {SMALL} lines: {small}; above {LARGE}: {large}")
    print(f"  folders: {len(siblings)}; with more than {SIBLINGS} files: {', '.join(crowded) or 'none'}")


def _facts(root: Path) -> dict[str, str]:
    """Return the wire tag of each fact class, from `type: ClassVar[str] = "turn.started"`."""
    tags: dict[str, str] = {}
    for path in (root / "src/callboard/contracts/facts").rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            for line in node.body:
                match line:
                    case ast.AnnAssign(target=ast.Name(id="type"), value=ast.Constant(value=str(tag))) if "." in tag:
                        tags[node.name] = tag
                    case _:
                        pass
    return tags


def _commands(root: Path) -> dict[str, str]:
    """Return the wire name of each command class, from the generated schema."""
    commands = json.loads((root / "schemas/commands.json").read_text("utf-8"))["commands"]
    return {entry["command"]["$ref"].rsplit("/", 1)[-1]: name for name, entry in commands.items()}


def _print_places(title: str, names: dict[str, str], texts: dict[Path, str], root: Path) -> None:
    files: list[int] = []
    with_tests: list[int] = []
    places: list[int] = []
    for name, tag in names.items():
        pattern = re.compile(rf"\b{re.escape(name)}\b|[\"'`]{re.escape(tag)}[\"'`]")
        hits = {path: sum(1 for line in text.splitlines() if pattern.search(line)) for path, text in texts.items()}
        sources = {path: n for path, n in hits.items() if n and path.relative_to(root).parts[0] != "tests"}
        files.append(len(sources))
        places.append(sum(sources.values()))
        with_tests.append(sum(1 for n in hits.values() if n))
    print(f"a {title} ({len(names)}): median {statistics.median(files):.0f} source files, most {max(files)};", end=" ")
    print(f"{statistics.median(places):.0f} places in them, most {max(places)};", end=" ")
    print(f"{statistics.median(with_tests):.0f} files with tests")


if __name__ == "__main__":
    main()
