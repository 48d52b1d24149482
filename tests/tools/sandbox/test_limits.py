"""What a command may take: the limits of the settings, what keeps it to them, and what is said where it went over one."""

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
from tests.tools.rigs.processes import having
from tests.tools.sandbox.test_guarded_command import LEVELS

RAISE = "the limit. Reduce its use, or ask the user to raise shell.{} in the settings."


@pytest.fixture(params=LEVELS)
def runner(request: pytest.FixtureRequest, folder: Path) -> Agent:
    return Agent(folder, FolderToolbox(bwrap=LEVELS[request.param]))


def within(runner: Agent, **limits: int) -> Agent:
    return runner.having(shell=Shell(**{"memory": 4096, "timeout": 60.0, **limits}))


async def test_the_fact_names_the_limits_and_what_keeps_to_them(runner: Agent):
    """SAFE-02"""
    evaluation = await within(runner, memory=256, processes=32, file_size=16).ask("Bash", command="true")

    assert evaluation.sandbox is not None
    assert evaluation.sandbox.limits == {
        "guard": {"timeout": 60, "memory": 256, "processes": 32},
        "kernel": {"file_size": 16},
        **({"tmpfs": {"scratch": 64}} if evaluation.sandbox.level == "bubblewrap" else {}),
    }


async def test_memory_that_is_too_much_ends_the_command_and_says_so(runner: Agent, mark: str):
    """SAFE-10"""
    grow = "import time; held = bytearray(b'x') * (200 << 20); print('has it', flush=True); time.sleep(60)"

    outcome = await within(runner, memory=100).do("Bash", command=f'python3 -c "{grow}" {mark}; sleep {mark}')

    message = f"The command was ended: it used more than 100 MiB of memory, {RAISE.format('memory')}"
    assert (outcome.code, outcome.message, outcome.exit_code) == ("resource_limit", message, None)
    assert having(mark) == []


async def test_memory_counts_for_all_that_came_of_the_command(runner: Agent, mark: str):
    """None of them is over by itself."""
    grow = "import time; held = bytearray(b'x') * (60 << 20); time.sleep(60)"

    outcome = await within(runner, memory=150).do(
        "Bash", command=f'for i in 1 2 3 4; do python3 -c "{grow}" {mark} & done; wait'
    )

    assert outcome.code == "resource_limit"
    assert having(mark) == []


async def test_memory_that_processes_share_counts_once(runner: Agent):
    """Four children of one that has 60 MiB take no more than it."""
    fork = "import os; held = bytearray(b'x') * (60 << 20)\nfor _ in range(4):\n  if not os.fork(): time.sleep(60)"
    share = f"import time\n{fork}\ntime.sleep(0.5)\nprint('had it')"

    outcome = await within(runner, memory=150).do("Bash", command=f"python3 -c '{share.replace(chr(39), chr(34))}'")

    assert (outcome.code, outcome.output) == (None, "had it\n")


async def test_a_fork_bomb_is_ended_with_all_of_it(runner: Agent, mark: str):
    """SAFE-10"""
    bomb = f"b() {{ sleep {mark} & b | b & }}; b; wait; sleep {mark}"

    outcome = await within(runner, processes=40).do("Bash", command=bomb)

    message = f"The command was ended: it had more than 40 processes, {RAISE.format('processes')}"
    assert (outcome.code, outcome.message) == ("resource_limit", message)
    assert having(mark) == []


async def test_processes_that_leave_the_session_are_counted(runner: Agent, mark: str):
    """SAFE-10"""
    outcome = await within(runner, processes=20).do(
        "Bash", command=f"for i in $(seq 40); do (setsid nohup sleep {mark} >/dev/null 2>&1 &) ; done; sleep {mark}"
    )

    assert outcome.code == "resource_limit"
    assert having(mark) == []


async def test_a_file_that_is_too_large_is_cut_off_and_said_so(runner: Agent):
    outcome = await within(runner, file_size=1).do("Bash", command="exec head -c 9000000 /dev/zero > large")

    message = f"The command was ended: it wrote a file of more than 1 MiB, {RAISE.format('file_size')}"
    assert (outcome.code, outcome.message, outcome.exit_code) == ("resource_limit", message, 153)
    assert (runner.folder / "large").stat().st_size == 1 << 20


async def test_no_command_gets_more_time_than_the_settings_allow(runner: Agent, mark: str):
    outcome = await runner.having(shell=Shell(timeout=0.2)).do("Bash", command=f"sleep {mark}", timeout=60_000)

    raising = "Do less at once, set background, or ask the user to raise shell.timeout in the settings."
    message = f"The command was ended after 0.2 s. {raising}"
    assert (outcome.code, outcome.message) == ("tool_timeout", message)
    assert having(mark) == []


async def test_what_is_in_memory_only_has_a_bound(agent: Agent):
    outcome = await within(agent, memory=64).do(
        "Bash", command="for to in /tmp ~ /dev/shm; do head -c 40000000 /dev/zero > $to/x; stat -c %s $to/x; done"
    )

    assert [line for line in outcome.output.splitlines() if line.isdigit()] == [str(16 << 20)] * 3


async def test_no_program_leaves_its_memory_in_a_file(runner: Agent):
    """What it held could be a secret of somebody's."""
    assert await runner.output("Bash", command="ulimit -c; ulimit -Hc") == "0\n0\n"


async def test_what_the_interpreter_ignores_no_command_does(runner: Agent):
    ignored = await runner.output("Bash", command="grep ^SigIgn /proc/self/status | cut -f2")

    # What whoever started these tests ignores is not the interpreter's.
    mine = (signal.SIGPIPE, signal.SIGXFSZ)
    assert [one.name for one in mine if int(ignored, 16) >> (one - 1) & 1] == []


async def test_where_the_machine_runs_out_of_memory_commands_go_first(runner: Agent):
    assert await runner.output("Bash", command="cat /proc/self/oom_score_adj") == "1000\n"


def test_without_a_look_at_the_tree_nothing_is_said_to_be_kept():
    """SAFE-02: on a system that does not tell of processes, their limits are none."""
    code = (
        "from callboard.tools.sandbox import limits; limits.threading.get_native_id = lambda: 0\n"
        "from callboard.contracts.settings import Shell\n"
        "print({keeper: list(told) for keeper, told in limits.to_limits(Shell(), scratch=False).items()})"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )

    assert done.stdout.strip() == str({"guard": ["timeout"], "kernel": ["file_size"], "none": ["memory", "processes"]})
