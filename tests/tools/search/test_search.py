"""Searches: results, omissions and time limits."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from callboard.contracts.errors import Code
from callboard.contracts.ports.tools import ToolOutcome
from callboard.tools.files.handles import Folder
from callboard.tools.search.file_search import Search
from callboard.tools.search.search_process import SearchResponse, run_search
from callboard.tools.search.walk import Walk
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent, rule
from tests.tools.rigs.processes import SECONDS, find_processes, wait_until

#: Takes Python's regular expressions longer than a test waits.
ENDLESS = r"(a|aa)+$"
NO_EXPRESSION = "pattern: invalid regular expression: missing ), unterminated subpattern at position 0."


@pytest.fixture
def files(agent: Agent) -> Agent:
    for path, text in {
        "b/two.py": "import a\nx = 1\n# gauge\n",
        "b/deep/three.ts": "gauge\nGauge\n\nlevel\ngauge\n",
        "c.bin": "gauge\0",
        ".hidden/note.txt": "gauge",
        ".git/config": "gauge",
        "build/out.txt": "gauge",
        ".gitignore": "build/\n",
    }.items():
        file = agent.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (agent.folder / "link").symlink_to("../outside")
    (agent.folder / "link.txt").symlink_to("../outside/secret.txt")
    return agent


async def test_glob_lists_files_in_path_order(files: Agent):
    """SAFE-01: links are not followed, and .git is not searched."""
    assert await files.output("Glob", pattern="**") == (
        ".gitignore\n.hidden/note.txt\nREADME.md\nb/deep/three.ts\nb/two.py\nc.bin\nsrc/app.py"
    )
    assert await files.output("Glob", pattern="**/*.{py,ts}") == "b/deep/three.ts\nb/two.py\nsrc/app.py"
    assert await files.output("Glob", pattern="*.py", path="b") == "b/two.py"
    assert await files.output("Glob", pattern=f"{files.folder}/b/*") == "b/two.py"
    assert await files.output("Glob", pattern="*.rs") == "[no matches]"


async def test_an_ignored_path_is_searched_if_it_is_named(files: Agent):
    assert await files.output("Grep", pattern="gauge", path="build") == "build/out.txt:1:gauge"


async def test_grep_shows_path_and_line_number(files: Agent):
    assert await files.output("Grep", pattern="gauge") == (
        ".hidden/note.txt:1:gauge\nREADME.md:3:Reads gauges.\nb/deep/three.ts:1:gauge\nb/deep/three.ts:5:gauge\n"
        "b/two.py:3:# gauge"
    )
    assert await files.output("Grep", pattern="^gauge$", glob="*.ts", ignore_case=True) == (
        "b/deep/three.ts:1:gauge\nb/deep/three.ts:2:Gauge\nb/deep/three.ts:5:gauge"
    )
    assert await files.output("Grep", pattern="gauge", output_mode="files_with_matches", path="b") == (
        "b/deep/three.ts\nb/two.py"
    )
    assert (
        await files.output("Grep", pattern="gauge", output_mode="count", path="b/deep/three.ts") == "b/deep/three.ts:2"
    )


async def test_context_lines_are_shown_once(files: Agent):
    assert await files.output("Grep", pattern="gauge", path="b/deep/three.ts", context=1) == (
        "b/deep/three.ts:1:gauge\nb/deep/three.ts-2-Gauge\n--\nb/deep/three.ts-4-level\nb/deep/three.ts:5:gauge"
    )
    assert await files.output("Grep", pattern="Gauge|level", path="b/deep/three.ts", before=1, after=3) == (
        "b/deep/three.ts-1-gauge\nb/deep/three.ts:2:Gauge\nb/deep/three.ts-3-\nb/deep/three.ts:4:level\nb/deep/three.ts-5-gauge"
    )


async def test_omitted_results_are_counted(files: Agent):
    assert await files.output("Grep", pattern="gauge", head_limit=1) == (
        ".hidden/note.txt:1:gauge\n\n[4 more results omitted; narrow the search]"
    )


async def test_files_that_rules_hide_are_not_searched(files: Agent):
    """Hidden folders are hidden from all tools."""
    restricted = files.with_context(rules=(rule("deny", "Read(b/**)"), rule("ask", "Read(README.md)")))

    assert await restricted.output("Grep", pattern="gauge") == (
        ".hidden/note.txt:1:gauge\n\n[3 files are hidden by rules]"
    )


async def test_hidden_folders_are_not_searched(files: Agent):
    """Hidden folders are hidden from all tools."""
    hiding = Agent(files.folder, FolderToolbox(hidden=[str(files.folder / "b")]))

    assert await hiding.output("Glob", pattern="b/**") == "[no matches]\n\n[1 folders or files could not be read]"
    assert (await hiding.call("Grep", pattern="gauge", path="b")).code == "path_denied"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            {"pattern": "("},
            "tool_arguments",
            NO_EXPRESSION,
        ),
        ({"pattern": "a", "path": "none"}, "tool_failed", "There is no file or folder none."),
        (
            {"pattern": "a", "glob": "{a,b}" * 9},
            "tool_arguments",
            "pattern: The pattern has more than 64 alternatives. Use fewer braces.",
        ),
    ],
)
async def test_an_invalid_search_reports_the_reason(files: Agent, arguments: dict[str, str], code: Code, message: str):
    assert await files.call("Grep", **arguments) == ToolOutcome(output="", code=code, message=message)


async def test_names_with_invalid_unicode_are_shown_with_replacements(agent: Agent):
    Path(str(agent.folder).encode().decode(), "src").joinpath(
        b"\xff.txt".decode("utf-8", "surrogateescape")
    ).write_text("x")

    assert await agent.output("Glob", pattern="src/*.txt") == "src/?.txt"


async def test_an_endless_expression_ends_at_the_timeout(agent: Agent):
    (agent.folder / "a.txt").write_text("a" * 5000 + "b\n")

    async with asyncio.timeout(SECONDS):
        answer = await run_search(str(agent.folder), (), Search("Grep", ENDLESS, ""), seconds=0.2)

    assert answer == SearchResponse(
        code="tool_timeout",
        message="The search did not finish within 0.2 s. Use a simpler pattern or search fewer files.",
    )


async def test_a_cancelled_search_leaves_no_process(agent: Agent):
    """MAR-10"""
    (agent.folder / "a.txt").write_text("a" * 5000 + "b\n")
    task = asyncio.create_task(agent.call("Grep", pattern=ENDLESS))
    await wait_until(lambda: find_processes("search.child", parent=True))

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not find_processes("search.child", parent=True)


async def test_a_search_ends_with_its_host(agent: Agent):
    """SAFE-10"""
    (agent.folder / "a.txt").write_text("a" * 5000 + "b\n")
    host = textwrap.dedent(
        f"""
        import asyncio
        from callboard.tools.search.search_process import run_search
        from callboard.tools.search.file_search import Search
        asyncio.run(run_search({str(agent.folder)!r}, (), Search("Grep", {ENDLESS!r}, ""), seconds=50))
        """
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", host)
    children = await wait_until(
        lambda: [child for child in find_processes("search.child") if child.parent == process.pid]
    )

    process.kill()
    await process.wait()

    await wait_until(lambda: not any(child.alive() for child in children))


@pytest.mark.parametrize(
    "ignored",
    [
        "*.txt",
        "/a.txt",
        "sub/",
        "sub",
        "sub/*\n!sub/a.txt",
        "sub/\n!sub/a.txt",
        "sub/**",
        "**/deep",
        "sub/**/c.txt",
        "a.???",
        "[ab].txt",
        "[^a].txt",
        "[!a].txt",
        "\\#odd\n\\!odd",
        "#odd",
        "odd \\ \n",
        "*\n!*/\n!*.md",
        "a*t\n!a.txt",
        "deep/c.txt",
        "sub/deep",
        "\\a.txt",
        "a.txt   ",
        "*.txt\r\n!b.txt\r\n",
        "/*\n!/sub",
        "",
    ],
)
def test_gitignore_works_as_in_git(tmp_path: Path, ignored: str):
    for name in (
        "a.txt",
        "b.txt",
        "c.md",
        "#odd",
        "!odd",
        "sub/a.txt",
        "sub/b.md",
        "sub/deep/c.txt",
        "deep/d.txt",
        "abt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text(ignored)
    (tmp_path / "sub" / ".gitignore").write_text("b.*\n!/deep/*.txt\n")
    git = ["git", "-c", "core.excludesFile=", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)

    listed = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard", "-z"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )

    with Folder(str(tmp_path)) as folder:
        walked = [file.path for file in Walk(folder, "", time.monotonic() + SECONDS).files()]
    assert sorted(walked) == sorted(name for name in listed.stdout.split("\0") if name)


async def test_matches_are_found_in_every_encoding_and_case(agent: Agent) -> None:
    """R8: the search skips a file early only if no line of it can match."""
    folder = agent.folder
    (folder / "wide.txt").write_bytes("one needle\n".encode("utf-16"))
    (folder / "latin.txt").write_bytes("näh needle\n".encode("latin-1"))
    (folder / "kelvin.txt").write_text("one \N{KELVIN SIGN}ettle\n")
    (folder / "other.txt").write_text("nothing here\n")

    needles = (await agent.output("Grep", pattern="needle")).splitlines()
    kettles = (await agent.output("Grep", pattern="kettle", ignore_case=True)).splitlines()

    assert needles == ["latin.txt:1:näh needle", "wide.txt:1:one needle"]
    assert kettles == ["kelvin.txt:1:one \N{KELVIN SIGN}ettle"]
