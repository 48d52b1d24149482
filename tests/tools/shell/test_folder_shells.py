"""Background commands, and the environment of commands."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest

from callboard.contracts.commands.process import ExecutionEnvironment
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.processes import Excerpt, Process
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.settings import Shell
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from callboard.tools.sandbox import bubblewrap, limits
from callboard.tools.sandbox.output import HEAD, TAIL, Output
from callboard.tools.shell.folder_shells import FolderShells
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent, call, read_tree
from tests.tools.rigs.processes import find_processes, find_sleepers, wait_until
from tests.tools.sandbox.test_guarded_command import LEVELS, TREES
from tests.tools.sandbox.test_limits import RAISE


@pytest.fixture(params=LEVELS)
def runner(request: pytest.FixtureRequest, folder: Path) -> Agent:
    return Agent(folder, FolderToolbox(bwrap=LEVELS[request.param]))


async def start_process(agent: Agent, command: str) -> Process:
    shells = FolderShells(bwrap=agent.toolbox._bwrap)
    wanted = call("Bash", command=command, background=True)
    return await shells.start(wanted, await agent.toolbox.evaluate(wanted, agent.context), agent.context)


def without_duration(outcome: ToolOutcome) -> ToolOutcome:
    return msgspec.structs.replace(outcome, duration_ms=0)


async def test_a_background_command_is_read_from_an_offset(runner: Agent):
    process = await start_process(runner, "echo one; read line; echo got $line; exit 3")
    await process.wait_for_output(0)
    assert process.read(0, 1000) == Excerpt(text="one\n", start=0, next=4, total=4)

    await process.write("hello\n", end=False)

    await process.wait_for_output(4)
    assert process.read(4, 5) == Excerpt(text="got h", start=4, next=9, total=14)
    assert without_duration(await process.wait()) == ToolOutcome(
        output="one\ngot hello\n", code="tool_failed", message="The command ended with exit code 3.", exit_code=3
    )
    assert process.read(14, 5) == Excerpt(text="", start=14, next=14, total=14)


async def test_a_background_command_sees_the_end_of_its_input(runner: Agent):
    process = await start_process(runner, "cat; echo over")

    await process.write("a\nb\n", end=True)

    assert (await process.wait()).output == "a\nb\nover\n"
    with pytest.raises(Refusal) as refused:
        await process.write("c", end=False)
    assert refused.value.code == "process_unavailable"


async def test_a_write_ends_when_the_process_ends(runner: Agent, mark: str):
    """The text is longer than the pipe's buffer."""
    process = await start_process(runner, f"sleep {mark}")
    writing = asyncio.ensure_future(process.write("x" * 1_000_000, end=False))
    await wait_until(lambda: find_processes("sleep", mark))

    await process.stop()

    with pytest.raises(Refusal) as refused:
        await writing
    assert refused.value.code == "process_unavailable"


@pytest.mark.parametrize("command", TREES.values(), ids=TREES)
async def test_a_stopped_process_has_ended_with_its_descendants(runner: Agent, mark: str, command: str):
    """MAR-10"""
    process = await start_process(runner, command.format(mark=mark))
    await wait_until(lambda: find_sleepers(mark))

    await process.stop()

    assert find_processes(mark) == []
    assert without_duration(await process.wait()) == ToolOutcome(output="")
    await process.stop()


@pytest.mark.parametrize("level", LEVELS)
async def test_a_background_process_ends_with_its_host(folder: Path, mark: str, level: str):
    """SAFE-10: a killed host cannot clean up."""
    command = f"(setsid nohup sh -c 'trap : TERM HUP; sleep {mark}' &) ; sleep {mark}"
    host = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from callboard.tools.toolbox import FolderToolbox
        from tests.tools.rigs.calls import Agent
        from tests.tools.shell.test_folder_shells import start_process
        async def main():
            process = await start_process(Agent(Path({str(folder)!r}), FolderToolbox(bwrap={LEVELS[level]!r})), {command!r})
            await process.wait()
        asyncio.run(main())
        """
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", host, cwd=Path(__file__).parents[3], env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "."}
    )
    await wait_until(lambda: len(find_sleepers(mark)) == 2)

    process.kill()
    await process.wait()

    await wait_until(lambda: find_processes(mark) == [])


async def test_a_limit_ends_a_background_process(runner: Agent, mark: str):
    process = await start_process(
        runner.with_context(shell=Shell(processes=10)), f"for i in $(seq 20); do sleep {mark} & done; wait"
    )

    outcome = await process.wait()

    message = f"The command was ended: it had more than 10 processes, {RAISE.format('processes')}"
    assert (outcome.code, outcome.message) == ("resource_limit", message)
    assert find_processes(mark) == []


async def test_protected_names_stay_read_only_while_a_process_runs(agent: Agent):
    process = await start_process(agent, "read line; mkdir agents; echo x > agents/evil.md; echo done")
    assert (agent.folder / "agents").is_dir()
    await agent.output("Bash", command="true")

    await process.write("go\n", end=True)

    assert (await process.wait()).code is None
    assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "src"]


async def test_a_denied_call_starts_no_process(agent: Agent):
    wanted = call("Bash", command="touch made", background=True)
    evaluation = await agent.toolbox.evaluate(wanted, agent.context)
    other = call("Bash", command="touch other", background=True)

    with pytest.raises(Refusal) as refused:
        await FolderShells().start(other, evaluation, agent.context)

    assert refused.value.code == "file_changed"
    assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "src"]


def test_any_stored_part_of_a_long_output_can_be_read():
    output = Output(lambda _: None)
    output.add(b"a" * HEAD)
    output.add(b"b" * 1000)
    output.add(b"c" * TAIL)
    output.add(b"d" * 10)

    total = HEAD + 1000 + TAIL + 10
    assert output.read(HEAD - 2, 5) == Excerpt(text="aa", start=HEAD - 2, next=HEAD, total=total)
    assert output.read(HEAD, 2) == Excerpt(text="cc", start=HEAD + 1000, next=HEAD + 1002, total=total)
    assert output.read(total - 3, 9) == Excerpt(text="ddd", start=total - 3, next=total, total=total)
    assert output.read(total + 9, 9) == Excerpt(text="", start=total, next=total, total=total)


def test_a_reader_receives_harmless_pending_characters():
    """SAFE-03: with or without a reader, no text is lost or repeated."""
    redaction = Redaction([NamedSecret("deploy", "me7Kq-x2Zp9w", "keyring")]).redact_stream
    unread, read = Output(lambda _: None, redaction()), Output(lambda _: None, redaction())
    for output in (unread, read):
        output.add(b"heard me\n")

    assert [read.read(6, 9), read.read(6, 9)] == [Excerpt(text="me\n", start=6, next=9, total=9)] * 2

    for output in (unread, read):
        output.add(b"", last=True)
        assert (output.text(), output.read(0, 99).text) == ("heard me\n", "heard me\n")


def test_pending_characters_are_withheld_without_a_reader():
    """SAFE-03"""
    output = Output(lambda _: None, Redaction([NamedSecret("deploy", "me7Kq-x2Zp9w", "keyring")]).redact_stream())

    for piece in (b"heard m", b"e", b"7Kq-x2Zp9w", b"!"):
        output.add(piece)

    assert output.text() == "heard secret://deploy!"


async def test_the_environment_of_commands_is_described(folder: Path, tmp_path: Path):
    """CTL-09, SAFE-02: folder, sandbox and limits."""
    (folder / "state").mkdir()
    (tmp_path / "programs" / "bin").mkdir(parents=True)
    shells = FolderShells(hidden=[str(folder / "state")], programs=[str(tmp_path / "programs")])
    agent = Agent(folder, shell=Shell(network=True), trusted=True)

    environment = await shells.describe_environment(agent.context)

    assert environment == ExecutionEnvironment(
        cwd=str(folder),
        workspace_roots=(str(folder),),
        level="bubblewrap",
        why="",
        seccomp=True,
        network=True,
        limits=limits.to_limits(Shell(), scratch=True),
        writable=(str(folder),),
        protected=tuple(f"{folder}/{name}" for name in ("agents", ".callboard", ".git")),
        hidden=(str(folder / "state"),),
        programs=tuple(bubblewrap.PATH.split(":")),
        trusted=True,
        permission_mode="full",
    )
    assert set(read_tree(folder)) == {"README.md", "src", "src/app.py", "state"}


async def test_the_environment_reports_a_missing_sandbox(folder: Path):
    """SAFE-02"""
    environment = await FolderShells(bwrap="/not/there").describe_environment(Agent(folder, policy=()).context)

    assert (environment.level, environment.why) == ("none", "bubblewrap (/not/there) is not installed")
    assert (environment.network, environment.writable, environment.protected) == (True, ("/",), ())
