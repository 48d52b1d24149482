"""Limits of commands, their enforcement and their messages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.contracts.settings import Shell
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent
from tests.tools.rigs.processes import find_processes
from tests.tools.sandbox.test_guarded_command import LEVELS

RAISE = "the limit. Reduce its use, or ask a person to raise shell.{} in the settings."


@pytest.fixture(params=LEVELS)
def runner(request: pytest.FixtureRequest, folder: Path) -> Agent:
    return Agent(folder, FolderToolbox(bwrap=LEVELS[request.param]))


def with_limits(runner: Agent, **limits: int) -> Agent:
    return runner.with_context(shell=Shell(**{"memory": 4096, "timeout": 60.0, **limits}))


async def test_the_fact_has_the_limits_with_their_enforcers(runner: Agent):
    """SAFE-02"""
    evaluation = await with_limits(runner, memory=256, processes=32, file_size=16).evaluate("Bash", command="true")

    assert evaluation.sandbox is not None
    assert evaluation.sandbox.limits == {
        "guard": {"timeout": 60, "memory": 256, "processes": 32},
        "kernel": {"file_size": 16},
        **({"tmpfs": {"scratch": 64}} if evaluation.sandbox.level == "bubblewrap" else {}),
    }


async def test_exceeding_the_memory_limit_ends_the_command(runner: Agent, mark: str):
    """SAFE-10"""
    grow = "import time; held = bytearray(b'x') * (200 << 20); print('has it', flush=True); time.sleep(60)"

    outcome = await with_limits(runner, memory=100).call("Bash", command=f'python3 -c "{grow}" {mark}; sleep {mark}')

    message = f"The command was ended: it used more than 100 MiB of memory, {RAISE.format('memory')}"
    assert (outcome.code, outcome.message, outcome.exit_code) == ("resource_limit", message, None)
    assert find_processes(mark) == []


async def test_memory_is_counted_for_all_processes(runner: Agent, mark: str):
    """No process alone exceeds the limit."""
    grow = "import time; held = bytearray(b'x') * (60 << 20); time.sleep(60)"

    outcome = await with_limits(runner, memory=150).call(
        "Bash", command=f'for i in 1 2 3 4; do python3 -c "{grow}" {mark} & done; wait'
    )

    assert outcome.code == "resource_limit"
    assert find_processes(mark) == []


async def test_shared_memory_counts_once(runner: Agent):
    """Four children share 60 MiB with their parent."""
    fork = "import os; held = bytearray(b'x') * (60 << 20)\nfor _ in range(4):\n  if not os.fork(): time.sleep(60)"
    share = f"import time\n{fork}\ntime.sleep(0.5)\nprint('had it')"

    outcome = await with_limits(runner, memory=150).call(
        "Bash", command=f"python3 -c '{share.replace(chr(39), chr(34))}'"
    )

    assert (outcome.code, outcome.output) == (None, "had it\n")


async def test_a_fork_bomb_is_ended(runner: Agent, mark: str):
    """SAFE-10"""
    bomb = f"b() {{ sleep {mark} & b | b & }}; b; wait; sleep {mark}"

    outcome = await with_limits(runner, processes=40).call("Bash", command=bomb)

    message = f"The command was ended: it had more than 40 processes, {RAISE.format('processes')}"
    assert (outcome.code, outcome.message) == ("resource_limit", message)
    assert find_processes(mark) == []


async def test_processes_that_leave_the_session_are_counted(runner: Agent, mark: str):
    """SAFE-10"""
    outcome = await with_limits(runner, processes=20).call(
        "Bash", command=f"for i in $(seq 40); do (setsid nohup sleep {mark} >/dev/null 2>&1 &) ; done; sleep {mark}"
    )

    assert outcome.code == "resource_limit"
    assert find_processes(mark) == []


async def test_exceeding_the_file_size_ends_the_command(runner: Agent):
    outcome = await with_limits(runner, file_size=1).call("Bash", command="exec head -c 9000000 /dev/zero > large")

    message = f"The command was ended: it wrote a file of more than 1 MiB, {RAISE.format('file_size')}"
    assert (outcome.code, outcome.message, outcome.exit_code) == ("resource_limit", message, 153)
    assert (runner.folder / "large").stat().st_size == 1 << 20


async def test_the_settings_limit_the_timeout(runner: Agent, mark: str):
    outcome = await runner.with_context(shell=Shell(timeout=0.2)).call("Bash", command=f"sleep {mark}", timeout=60_000)

    raising = "Do less in one command, set background, or ask a person to raise shell.timeout in the settings."
    message = f"The command was ended after 0.2 s. {raising}"
    assert (outcome.code, outcome.message) == ("tool_timeout", message)
    assert find_processes(mark) == []


async def test_file_systems_in_memory_are_bounded(agent: Agent):
    outcome = await with_limits(agent, memory=64).call(
        "Bash", command="for to in /tmp ~ /dev/shm; do head -c 40000000 /dev/zero > $to/x; stat -c %s $to/x; done"
    )

    assert [line for line in outcome.output.splitlines() if line.isdigit()] == [str(16 << 20)] * 3


async def test_no_program_dumps_core(runner: Agent):
    """A core dump could contain a secret."""
    assert await runner.output("Bash", command="ulimit -c; ulimit -Hc") == "0\n0\n"


async def test_a_command_does_not_inherit_ignored_signals(runner: Agent):
    ignored = await runner.output("Bash", command="grep ^SigIgn /proc/self/status | cut -f2")

    # Python ignores these two. The process that started the tests may ignore others.
    restored = (signal.SIGPIPE, signal.SIGXFSZ)
    assert [signum.name for signum in restored if int(ignored, 16) >> (signum - 1) & 1] == []


async def test_commands_end_first_if_memory_runs_out(runner: Agent):
    assert await runner.output("Bash", command="cat /proc/self/oom_score_adj") == "1000\n"


def test_limits_that_cannot_be_enforced_are_recorded_as_such():
    """SAFE-02: a system without a process list cannot limit memory and processes."""
    code = (
        "from callboard.tools.sandbox import limits; limits.threading.get_native_id = lambda: 0\n"
        "from callboard.contracts.settings import Shell\n"
        "print({enforcer: list(names) for enforcer, names in limits.to_limits(Shell(), scratch=False).items()})"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )

    assert done.stdout.strip() == str({"guard": ["timeout"], "kernel": ["file_size"], "none": ["memory", "processes"]})
