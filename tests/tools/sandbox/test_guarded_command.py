"""Commands as processes: live output, timeouts and cleanup."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from callboard.contracts.ports.tools import ToolOutcome
from callboard.tools.sandbox.output import HEAD, TAIL, Output
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent, call
from tests.tools.rigs.processes import find_processes, find_sleepers, wait_until

#: The program of the sandbox, and a missing one.
LEVELS = {"bubblewrap": "bwrap", "none": "/not/there"}


@pytest.fixture(params=LEVELS)
def runner(request: pytest.FixtureRequest, folder: Path) -> Agent:
    return Agent(folder, FolderToolbox(bwrap=LEVELS[request.param]))


async def test_both_outputs_arrive_live_and_in_order(runner: Agent):
    task = asyncio.create_task(
        runner.call("Bash", command="echo one; echo two >&2; until [ -e go ]; do :; done; echo three; exit 7")
    )
    await wait_until(lambda: "".join(runner.live_output) == "one\ntwo\n")
    assert not task.done()

    (runner.folder / "go").write_text("")

    assert await task == ToolOutcome(
        output="one\ntwo\nthree\n", code="tool_failed", message="The command ended with exit code 7.", exit_code=7
    )
    assert "".join(runner.live_output) == "one\ntwo\nthree\n"


async def test_a_successful_command_has_no_code(runner: Agent):
    assert await runner.call("Bash", command="cat; pwd") == ToolOutcome(output=f"{runner.folder}\n", exit_code=0)


@pytest.mark.parametrize(
    ("command", "code"), [("kill -9 $$", 137), ("kill -TERM $$", 143), ("nothing-of-this-name", 127)]
)
async def test_a_failed_command_has_its_exit_code(runner: Agent, command: str, code: int):
    assert (await runner.call("Bash", command=command)).exit_code == code


async def test_invalid_utf8_becomes_replacement_characters(runner: Agent):
    assert await runner.output("Bash", command=r"printf 'a\xff\xe6\xbd\xaeb\xe6'") == "a\ufffd潮b\ufffd"


async def test_long_output_keeps_its_ends_and_counts_the_rest(runner: Agent):
    outcome = await runner.call("Bash", command="echo begin; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end")

    left = 5_000_000 + len("begin\n\nend\n") - HEAD - TAIL
    assert outcome.output.startswith("begin\nxxx")
    assert outcome.output.endswith("xxx\nend\n")
    assert f"\n[{left:,} characters of output omitted]\n" in outcome.output
    assert len(outcome.output) < HEAD + TAIL + 100
    assert len("".join(runner.live_output)) < HEAD + 200


async def test_a_timeout_ends_all_processes_and_keeps_the_output(runner: Agent, mark: str):
    """A busy machine may time out before the first output. The test then allows more time."""
    command = f"echo before; (setsid sleep {mark} &) ; sleep {mark}"
    seconds, output = 0.3, ""
    while not output and seconds < 60:
        outcome = await runner.call("Bash", command=command, timeout=round(seconds * 1000))

        output = outcome.output
        assert outcome == ToolOutcome(
            output=output,
            code="tool_timeout",
            message=f"The command was ended after {seconds:g} s. Set a longer timeout, or do less in one command.",
        )
        assert find_processes(mark) == []
        seconds *= 4
    assert output == "before\n"


TREES = {
    "a child": "sleep {mark}",
    "a background child": "sleep {mark} & wait",
    "another session": "setsid -w sleep {mark}",
    "a double fork": "(setsid sh -c 'sleep {mark} & sleep {mark}' &) ; sleep {mark}",
    "ignored signals": "trap '' TERM INT HUP; sh -c \"trap '' TERM INT HUP; while :; do sleep {mark}; done\"",
    "closed output": "sleep {mark} > /dev/null 2>&1 < /dev/null & exec > /dev/null 2>&1; sleep {mark}",
}


@pytest.mark.parametrize("command", TREES.values(), ids=TREES)
async def test_a_cancelled_command_has_ended_with_all_processes(runner: Agent, mark: str, command: str):
    """MAR-10"""
    task = asyncio.create_task(runner.call("Bash", command=command.format(mark=mark)))
    await wait_until(lambda: find_sleepers(mark))

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert find_processes(mark) == []


async def test_repeated_cancellation_leaves_no_process(runner: Agent, mark: str):
    task = asyncio.create_task(runner.call("Bash", command=f"sleep {mark}"))
    await wait_until(lambda: find_processes("sleep", mark))

    while not task.done():
        task.cancel()
        await asyncio.sleep(0)

    assert task.cancelled()
    assert find_processes(mark) == []


async def test_a_command_cancelled_during_its_start_has_ended(runner: Agent, mark: str):
    """MAR-10"""
    evaluation = await runner.evaluate("Bash", command=f"sleep {mark}")
    for turns in range(0, 40, 3):
        task = asyncio.create_task(runner.run(call("Bash", command=f"sleep {mark}"), evaluation))
        for _ in range(turns):
            await asyncio.sleep(0)

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        assert find_processes(mark) == []
    assert sorted(path.name for path in runner.folder.iterdir()) == ["README.md", "src"]


async def test_processes_that_a_command_leaves_end_with_it(runner: Agent, mark: str):
    outcome = await runner.call("Bash", command=f"(setsid sleep {mark} > /dev/null 2>&1 &); sleep {mark} & echo done")

    assert outcome == ToolOutcome(output="done\n", exit_code=0)
    assert find_processes(mark) == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("command", TREES.values(), ids=TREES)
async def test_a_command_ends_with_its_host(folder: Path, mark: str, level: str, command: str):
    """SAFE-10: a killed host cannot clean up."""
    host = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from callboard.tools.toolbox import FolderToolbox
        from tests.tools.rigs.calls import Agent, call
        agent = Agent(Path({str(folder)!r}), FolderToolbox(bwrap={LEVELS[level]!r}))
        asyncio.run(agent.call("Bash", command={command.format(mark=mark)!r}))
        """
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", host, cwd=Path(__file__).parents[3], env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "."}
    )
    await wait_until(lambda: find_sleepers(mark))

    process.kill()
    await process.wait()

    await wait_until(lambda: find_processes(mark) == [])


async def test_a_command_ends_with_its_guard(agent: Agent, mark: str):
    """SAFE-10: the sandbox ends its processes without the guard."""
    task = asyncio.create_task(agent.call("Bash", command=f"setsid -w sleep {mark}"))
    await wait_until(lambda: find_sleepers(mark))

    (guard,) = find_processes("guard.py", mark, parent=True)

    os.kill(guard.pid, signal.SIGKILL)

    outcome = await task
    assert outcome.code == "tool_failed"
    await wait_until(lambda: find_processes(mark) == [])


@pytest.mark.parametrize("level", LEVELS)
async def test_a_command_inherits_no_descriptor(folder: Path, level: str):
    """SAFE-02: also under uvloop, the server's loop. The command can open its output by name."""
    look = "ls /proc/self/fd; echo named > /dev/stdout"
    host = textwrap.dedent(
        f"""
        import os, uvloop
        from pathlib import Path
        from callboard.tools.toolbox import FolderToolbox
        from tests.tools.rigs.calls import Agent
        left_open = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(left_open, True)
        agent = Agent(Path({str(folder)!r}), FolderToolbox(bwrap={LEVELS[level]!r}))
        print(uvloop.run(agent.call("Bash", command={look!r})).output)
        """
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", host),
        cwd=Path(__file__).parents[3],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "."},
        stdout=asyncio.subprocess.PIPE,
    )

    printed, _ = await process.communicate()

    assert printed.split() == [b"0", b"1", b"2", b"3", b"named"]


def test_a_character_split_over_two_reads_is_decoded():
    pieces: list[str] = []
    output = Output(pieces.append)

    for byte in "潮位\n".encode():
        output.add(bytes([byte]))
    output.add(b"", last=True)

    assert (output.text(), pieces) == ("潮位\n", ["潮", "位", "\n"])


def test_endless_output_keeps_its_head_and_tail():
    output = Output(lambda _: None)

    for number in range(3000):
        output.add(f"{number:>7}\n".encode() * 100)

    text = output.text()
    total = 3000 * 800
    assert len(text) == HEAD + TAIL + len(f"\n[{total - HEAD - TAIL:,} characters of output omitted]\n")
    assert text.startswith("      0\n")
    assert text.endswith("   2999\n")
