"""The sandbox of commands, observed from inside and compared with its fact."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.settings import Shell
from callboard.tools.sandbox import bubblewrap, limits
from callboard.tools.sandbox.ability import SandboxAbility, detect_ability
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent, call, read_tree
from tests.tools.rigs.processes import wait_until

NOBODY = "65534"

MACHINE = {
    *("bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin", "tmp", "usr")
}
PASSED_ON = {
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"),
    *("PWD", "TERM", "NO_COLOR", "SHLVL", "_"),
}
LOOK = """
tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t' ' '
for place in / /usr /etc /home /proc /dev . /tmp ~; do
    (echo x > $place/.try) 2>/dev/null && echo "writes $place" && rm $place/.try
done
cat /proc/1/comm
unshare --user true 2>/dev/null || echo 'no namespaces'
keyctl show 2>/dev/null; readlink /proc/self/fd/0; ls /proc/self/fd
ls /
"""


def test_this_machine_has_a_sandbox():
    """The other tests require bubblewrap with its filter; `make setup-test` installs them."""
    assert detect_ability("bwrap") == SandboxAbility(shutil.which("bwrap") or "", userns_off=True, seccomp=True)


async def test_no_command_writes_kernel_files(agent: Agent):
    """X4: root may write /proc/sys without a capability."""
    search = "find /proc -type f -writable -not -path '/proc/[0-9]*' -not -path '/proc/*self/*'"
    outcome = await agent.call(
        "Bash", command=f"{search} 2>/dev/null | while read -r file; do (: >> $file) 2>/dev/null && echo $file; done; :"
    )

    assert outcome == ToolOutcome(output="", exit_code=0)


def test_a_sandbox_with_writable_kernel_files_is_rejected_for_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X4: the first use tests the sandbox. The kernel itself denies users other than root."""
    is_root = os.geteuid() == 0
    outside = subprocess.run(["/bin/sh", "-c", bubblewrap.build_kernel_write_test()], check=False).returncode
    assert outside == (3 if is_root else 0)
    monkeypatch.setattr(bubblewrap, "_build_proc_options", list)

    ability = detect_ability(_other_bwrap(tmp_path))

    assert ability.works is not is_root
    assert ability.problem == (f"bubblewrap does not work here: {_OPEN_KERNEL}" if is_root else "")


def test_a_sandbox_with_one_writable_kernel_file_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X4: for every user. A world-writable folder replaces the kernel's files."""
    open_to_all = bubblewrap.build_kernel_write_test().replace("/proc/sys/kernel/core_pattern", "/tmp")
    monkeypatch.setattr(bubblewrap, "build_kernel_write_test", lambda: open_to_all)

    assert detect_ability(_other_bwrap(tmp_path)) == SandboxAbility(
        "", problem=f"bubblewrap does not work here: {_OPEN_KERNEL}"
    )


_OPEN_KERNEL = "a command in it could write the kernel's settings in /proc/sys"


def _other_bwrap(folder: Path) -> str:
    """Bubblewrap under another name, because the detection of a program is cached."""
    other = folder / "bwrap"
    other.write_text('#!/bin/sh\nexec bwrap "$@"\n')
    other.chmod(0o755)
    return str(other)


async def test_the_fact_describes_the_sandbox(agent: Agent):
    """SAFE-02"""
    evaluation = await agent.evaluate("Bash", command=LOOK)

    assert evaluation.sandbox == SandboxApplied(
        level="bubblewrap",
        network=False,
        writable=(str(agent.folder),),
        seccomp=True,
        detail="read-only: agents, .callboard, .git; /tmp and the home are empty and private",
        limits=limits.to_limits(Shell(), scratch=True),
    )
    outcome = await agent.run(call("Bash", command=LOOK), evaluation)
    lines = outcome.output.splitlines()
    top = lines.index("bin")
    assert lines[:top] == [
        "lo",
        "CapEff: 0000000000000000",
        "CapBnd: 0000000000000000",
        "NoNewPrivs: 1",
        "Seccomp: 2",
        "writes .",
        "writes /tmp",
        "writes /home/callboard",
        "bwrap",
        "no namespaces",
        "/dev/null",
        *("0", "1", "2", "3"),
    ]
    assert set(lines[top:]) <= MACHINE


async def test_home_state_and_keys_are_invisible(agent: Agent, monkeypatch: pytest.MonkeyPatch):
    """A command reads neither the user's files nor Callboard's environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    home, outside = Path.home(), agent.folder.parent / "outside" / "secret.txt"

    printed = await agent.output(
        "Bash",
        command=f"ls {home} {outside} /run /var /etc/shadow /etc/ssh /etc/ssl/private 2>/dev/null; env; cat /proc/*/environ",
    )

    assert printed.replace("\0", "\n").split("PWD=")[0] == ""
    assert "planted-key" not in printed
    assert {line.partition("=")[0] for line in printed.replace("\0", "\n").splitlines()} == {
        *("PWD", "HOME", "LANG", "LC_CTYPE", "TMPDIR", "TERM", "SHLVL", "NO_COLOR", "PATH", "_"),
    }


async def test_protected_names_are_read_only_and_placeholders_are_removed(agent: Agent):
    """Agents cannot change files that control their permissions."""
    (agent.folder / ".git").mkdir()
    (agent.folder / ".git" / "config").write_text("[core]\n")
    before = read_tree(agent.folder)
    attack = """
    echo x > .git/config; rm -rf .git; mv .git gone; ln -s src .git
    mkdir -p agents; echo x > agents/evil.md; rmdir agents; mv agents other; mount -o remount,rw .git
    echo x > .callboard/settings.json; umount .callboard; chmod 777 .callboard && echo x > .callboard/y
    """

    await agent.call("Bash", command=attack)

    assert read_tree(agent.folder) == before


async def test_a_file_with_a_protected_name_is_read_only(agent: Agent):
    """A working tree has a file called .git."""
    (agent.folder / ".git").write_text("gitdir: ../elsewhere\n")

    await agent.call("Bash", command="echo x > .git; rm -f .git; mv .git gone")

    assert (agent.folder / ".git").read_text() == "gitdir: ../elsewhere\n"
    assert sorted(path.name for path in agent.folder.iterdir()) == [".git", "README.md", "src"]


async def test_concurrent_commands_share_placeholders(agent: Agent):
    """The end of the first command keeps the protection of the others."""
    first = asyncio.create_task(
        agent.call("Bash", command="until [ -e go ]; do :; done; mkdir agents; echo x > agents/evil.md")
    )
    await wait_until((agent.folder / "agents").exists)

    await agent.output("Bash", command="true")
    (agent.folder / "go").write_text("")

    assert (await first).exit_code == 1
    assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "go", "src"]


async def test_a_placeholder_of_a_killed_host_is_removed_later(agent: Agent):
    (agent.folder / "agents").mkdir(mode=0o555)
    (agent.folder / "agents").chmod(0o555)

    await agent.output("Bash", command="true")

    assert sorted(path.name for path in agent.folder.iterdir()) == ["README.md", "src"]


async def test_the_users_empty_folder_stays(agent: Agent):
    (agent.folder / "agents").mkdir()

    await agent.output("Bash", command="true")

    assert (agent.folder / "agents").is_dir()


async def test_hidden_folders_appear_empty(agent: Agent):
    """Hidden folders are hidden from all tools."""
    state = agent.folder / "state"
    state.mkdir()
    (state / "key").write_text("planted")
    hiding = Agent(agent.folder, FolderToolbox(hidden=[str(state), "/not/there"]))

    outcome = await hiding.call("Bash", command="ls -A state; cat state/key; echo x > state/y; mv state other")

    assert "planted" not in outcome.output
    assert read_tree(state) == {"key": b"planted"}


async def test_toolchain_folders_are_readable_and_executable(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    programs = tmp_path / "toolchain"
    (programs / "bin").mkdir(parents=True)
    (programs / "bin" / "hello").write_text("#!/bin/sh\necho hello\n")
    (programs / "bin" / "hello").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}/bin:{agent.folder.parent}/outside:{os.environ['PATH']}")
    equipped = Agent(agent.folder, FolderToolbox(programs=[str(programs)]))

    outcome = await equipped.call("Bash", command=f"hello; echo x > {programs}/x; echo $PATH")

    assert outcome.output.splitlines()[0] == "hello"
    assert outcome.output.splitlines()[-1] == f"{programs}/bin:{bubblewrap.PATH}"
    assert not (programs / "x").exists()


@asynccontextmanager
async def listen() -> AsyncIterator[tuple[int, list[bytes]]]:
    """Yield the port of a loopback server, and the data that it receives."""
    received: list[bytes] = []

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(receive, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], received


async def test_a_command_has_a_network_only_if_its_fact_allows_it(agent: Agent):
    """SAFE-02"""
    connected = Agent(agent.folder, shell=Shell(network=True))
    async with listen() as (port, received):
        command = f"echo hello > /dev/tcp/127.0.0.1/{port}"

        assert (await agent.call("Bash", command=command)).exit_code == 1
        assert received == []
        evaluation = await connected.evaluate("Bash", command=command)
        assert evaluation.sandbox is not None
        assert evaluation.sandbox.network
        assert (await connected.run(call("Bash", command=command), evaluation)).code is None
        await wait_until(lambda: received == [b"hello\n"])


async def test_the_machines_sockets_are_unreachable(agent: Agent):
    """SAFE-02: an abstract socket has no file that could be hidden; its namespace is the network's."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0callboard-test")
        server.listen()

        printed = await agent.output("Bash", command="cat /proc/net/unix | grep -c callboard-test || true")

    assert printed == "0\n"


async def test_a_socket_in_the_folder_works_only_with_a_network(agent: Agent):
    """SAFE-02: the socket has a file, and its listener is outside."""
    received: list[bytes] = []

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(100))
        writer.close()

    connect = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('door'); s.send(b'hello'); s.close()"
    command = f'python3 -c "{connect}"'
    async with await asyncio.start_unix_server(receive, agent.folder / "door"):
        assert "Operation not permitted" in (await agent.call("Bash", command=command)).output
        assert received == []
        connected = Agent(agent.folder, shell=Shell(network=True))
        assert (await connected.call("Bash", command=command)).code is None
        await wait_until(lambda: received == [b"hello"])


async def test_a_network_exposes_nothing_else(agent: Agent):
    """SAFE-02"""
    connected = Agent(agent.folder, shell=Shell(network=True))
    look = f"ls {Path.home()} {agent.folder.parent}/outside /run /var 2>/dev/null; ls -A ~; cat /proc/1/comm"

    evaluation = await connected.evaluate("Bash", command=look)

    assert evaluation.sandbox is not None
    assert evaluation.sandbox.detail.endswith(
        "the machine's network is available, with its loopback and abstract sockets"
    )
    outcome = await connected.run(call("Bash", command=look), evaluation)
    assert outcome.output == "bwrap\n"


async def test_a_command_without_its_approved_sandbox_does_not_run(agent: Agent):
    """SAFE-02"""
    evaluation = await agent.evaluate("Bash", command="touch made")
    without = Agent(agent.folder, FolderToolbox(bwrap="/not/there"))

    outcome = await without.run(call("Bash", command="touch made"), evaluation)

    assert outcome == ToolOutcome(
        output="",
        code="tool_failed",
        message="The approved sandbox is no longer available (bubblewrap (/not/there) is not installed). "
        "The command did not run. Call the tool again for a new approval.",
    )
    assert not (agent.folder / "made").exists()


async def test_a_sandbox_failure_differs_from_a_command_failure(agent: Agent):
    """SAFE-02"""
    evaluation = await agent.evaluate("Bash", command="touch made")
    gone = agent.folder.parent / "gone"
    agent.folder.rename(gone)
    agent.folder.symlink_to(gone)

    outcome = await agent.run(call("Bash", command="touch made"), evaluation)

    assert (outcome.code, outcome.exit_code) == ("tool_failed", None)
    assert not (gone / "made").exists()


async def test_a_broken_bubblewrap_is_not_a_sandbox(tmp_path: Path):
    """SAFE-02"""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)

    assert detect_ability(str(broken)) == SandboxAbility(
        "", problem="bubblewrap does not work here: No permissions to create new namespace"
    )


async def test_a_missing_filter_is_reported(agent: Agent, tmp_path: Path):
    """SAFE-02"""
    partial = tmp_path / "bwrap"
    refusing = 'for a; do [ "$a" = --seccomp ] && echo "no filters here" >&2 && exit 1; done'
    partial.write_text(f'#!/bin/sh\n{refusing}\nexec bwrap "$@"\n')
    partial.chmod(0o755)
    unfiltered = Agent(agent.folder, FolderToolbox(bwrap=str(partial)))

    evaluation = await unfiltered.evaluate("Bash", command="grep ^Seccomp: /proc/self/status")

    assert evaluation.sandbox == SandboxApplied(
        level="bubblewrap",
        network=False,
        writable=(str(agent.folder),),
        detail="read-only: agents, .callboard, .git; /tmp and the home are empty and private; "
        "no seccomp filter: no filters here",
        limits=limits.to_limits(Shell(), scratch=True),
    )
    outcome = await unfiltered.run(call("Bash", command="grep ^Seccomp: /proc/self/status"), evaluation)
    assert outcome.output == "Seccomp:\t0\n"


async def test_a_command_without_a_sandbox_inherits_no_secret(agent: Agent, monkeypatch: pytest.MonkeyPatch):
    """SAFE-02"""
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    bare = Agent(agent.folder, FolderToolbox(bwrap="/not/there"))
    evaluation = await bare.evaluate("Bash", command="env; id -u > made")
    assert evaluation.sandbox is not None
    assert evaluation.sandbox.level == "none"

    outcome = await bare.run(call("Bash", command="env; id -u > made"), evaluation)

    assert outcome.code is None
    assert (agent.folder / "made").read_text() == f"{os.getuid()}\n"
    assert "planted-key" not in outcome.output
    names = {line.partition("=")[0] for line in outcome.output.splitlines()}
    assert names <= PASSED_ON


def test_an_unprivileged_user_has_a_sandbox():
    """SAFE-02: a machine may allow namespaces only for root."""
    folder = Path("/var/tmp") / f"callboard-{os.getpid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    view = bubblewrap.SandboxView(folder=str(folder), writable=True, network=False)
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
    command = [
        *as_nobody,
        "bwrap",
        *bubblewrap.build_namespace_options(network=False, userns_off=True),
        *bubblewrap.build_environment_options(view, ""),
        *bubblewrap.build_mount_options(view),
        *("--", "/bin/sh", "-c", "echo x > made; echo x > /usr/made; id -u"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        is_written = (folder / "made").exists()
    finally:
        shutil.rmtree(folder)

    assert (done.stdout, is_written) == (f"{NOBODY if as_nobody else os.getuid()}\n", True), done.stderr
    assert "Read-only file system" in done.stderr


async def test_the_run_enforces_the_evaluated_sandbox(agent: Agent):
    """SAFE-02: a read-only sandbox stays read-only when the policy changes."""
    evaluation = await agent.with_context(policy=()).evaluate("Bash", command="touch made")

    outcome = await agent.run(call("Bash", command="touch made"), evaluation)

    assert "Read-only file system" in outcome.output
    assert msgspec.structs.asdict(evaluation)["read_only"] is True
