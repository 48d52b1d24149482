"""Programs outside the sandbox: the check, and every place that starts a process."""

from __future__ import annotations

import ast
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from callboard.app.settings.folder_file import FILE, list_programs, list_requested_permissions, read_folder_file
from callboard.contracts.facts.permission import Rule
from callboard.contracts.settings import Settings
from callboard.tools.gate import external_starts
from callboard.tools.unsandboxed.binding import bind
from callboard.tools.unsandboxed.variables import list_loaders, read_assignments
from tests.tools.gate.test_external_calls import context
from tests.tools.rigs.calls import rule

SOURCE = Path(__file__).parents[3] / "src" / "callboard"
#: Modules that start processes: how many starts each has, and why they are allowed.
STARTS = {
    "adapters/acp/process.py": (1, "external agents, after the check in runtime/external/acp_connector"),
    "app/cli/terminal/browser.py": (1, "the person's browser"),
    "app/demos/remote_agent.py": (2, "our own program: a demo's remote agent, and the type of its process"),
    "app/doctor/machine_checks.py": (1, "`--version` of programs on the search path"),
    "runtime/worktrees/git.py": (1, "git, with every program setting of a repository disabled"),
    "tools/hooks/hook_process.py": (1, "hooks, after the check"),
    "tools/mcp/stdio_transport.py": (1, "tool servers, after the check"),
    "tools/sandbox/ability.py": (1, "a trial of bubblewrap, in the sandbox"),
    "tools/sandbox/guard.py": (2, "our own guard: it forks, and becomes the command"),
    "tools/sandbox/launch.py": (1, "our own guard, for all callers of `start_guard`"),
    "tools/sandbox/guarded_command.py": (1, "commands, in the sandbox or with an approval"),
    "tools/search/search_process.py": (1, "our own program: the search of a folder"),
}
#: Our function that starts commands behind the guard.
_OURS = "start_guard"
_STARTING = {
    *("create_subprocess_exec", "create_subprocess_shell", "Popen", "check_call", "check_output", "getoutput"),
    *(
        "fork",
        "forkpty",
        "posix_spawn",
        "posix_spawnp",
        "subprocess_exec",
        "open_process",
    ),
    *("execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp", "spawnv", "spawnl", "run_process"),
}
LOADERS = """LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME
PERL5OPT PERL5LIB RUBYOPT RUBYLIB GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_GLOBAL MAKEFLAGS
JAVA_TOOL_OPTIONS PATH DYLD_INSERT_LIBRARIES
GCONV_PATH""".split()


def list_starts(tree: ast.AST) -> list[str]:
    """Return the expressions in a module that start a process."""
    starts: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            above = node.value.id if isinstance(node.value, ast.Name) else ""
            named = (above == "os" and node.attr in {"system", "popen"}) or (
                above in {"subprocess", "webbrowser", "multiprocessing", "pty"}
                and node.attr in {*("run", "call", "open", "spawn", "Process", "Pool")}
            )
            if (node.attr in _STARTING and above != "platform") or named:
                starts.append(node.attr)
        called = node.func if isinstance(node, ast.Call) else None
        if _OURS in (getattr(called, "id", ""), getattr(called, "attr", "")):
            starts.append(_OURS)
        if isinstance(node, ast.ImportFrom) and node.module in {"subprocess", "multiprocessing", "pty"}:
            starts += [alias.name for alias in node.names]
    return starts


def write_folder(folder: Path, settings: str, **files: str) -> Path:
    (folder / ".callboard").mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(settings)
    for name, text in files.items():
        (folder / name.replace("__", "/").replace("_dot_", ".")).write_text(text)
    return folder


def digest(folder: Path) -> str:
    file = read_folder_file(str(folder))
    assert file.problems == ()
    return list_requested_permissions(file, (), Settings(), list_programs(str(folder), file)).digest


def test_every_place_that_starts_a_process_is_declared():
    """X2: put a new start behind the check, or add it to STARTS with its reason."""
    trees = {str(path.relative_to(SOURCE)): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}

    counts = {path: len(starts) for path, tree in trees.items() if (starts := list_starts(tree))}

    assert counts == {path: count for path, (count, _) in STARTS.items()}


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.system('x')",
        "from subprocess import run",
        "import subprocess as s\ns.Popen(1)",
        "os.execv(1)",
        "start_guard(1)",
    ],
)
def test_a_new_place_that_starts_a_process_is_detected(text: str):
    assert list_starts(ast.parse(text))


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("table", ["servers", "hooks"])
def test_a_folder_cannot_set_loader_variables(tmp_path: Path, name: str, table: str):
    """X3"""
    head = 'transport = "stdio"\n' if table == "servers" else ""
    write_folder(tmp_path, f'[[{table}]]\nname = "x"\n{head}command = ["cat"]\nenv = {{ {name} = "a" }}\n')

    (problem,) = read_folder_file(str(tmp_path)).problems

    assert (problem.field, name in problem.message) == (f"{table}[0].env.{name}", True)


def test_assignments_of_env_count(tmp_path: Path):
    """X3: also as arguments of the command."""
    write_folder(tmp_path, '[[hooks]]\nname = "x"\ncommand = ["env", "LD_PRELOAD=./a.so", "cat"]\n')

    assert read_folder_file(str(tmp_path)).problems[0].field == "hooks[0].env.LD_PRELOAD"
    assert list_loaders(read_assignments(("/usr/bin/env", "-i", "A=1", "BASH_ENV=x", "sh"))) == ("BASH_ENV",)
    assert list_loaders(["API_KEY", "LOG_LEVEL", "ENVIRONMENT", "PROJECT_PATH"]) == ()


def test_the_card_shows_values_and_programs_and_keeps_handles(tmp_path: Path):
    """X3"""
    text = '[[hooks]]\nname = "x"\ncommand = ["sh", "check.sh"]\nenv = { MODE = "strict", KEY = "secret://own" }\n'
    write_folder(tmp_path, text, check_dot_sh="exit 0\n")
    file = read_folder_file(str(tmp_path))

    details = [
        permission.detail
        for permission in list_requested_permissions(file, (), Settings(), list_programs(str(tmp_path), file)).widenings
    ]

    assert details[0].endswith("starts sh check.sh, with KEY=secret://own, MODE=strict, and gives it the secret own")
    assert details[-1].partition(" (sha256")[0] == "check.sh runs as it is now, outside the sandbox"
    assert len(details) > 1
    assert f"(sha256 {sha256(b'exit 0' + bytes([10])).hexdigest()[:12]})" in details[-1]


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ('command = ["sh", "run.sh"]', "run.sh"),
        ('command = ["python3", "-m", "serve"]', "serve.py"),
        ('command = ["make", "serve"]', "Makefile"),
        ('command = ["npx", "serve"]', "package.json"),
        ('command = ["cat"]\nenv = { CONFIG = "conf.json" }', "conf.json"),
        ('command = ["cat"]\nenv = { CONFIG = "a:./conf.json" }', "conf.json"),
        ('command = ["cat", "--import=hook.mjs"]', "hook.mjs"),
        ('command = ["./link"]', "target"),
        ('command = ["sh", "-c", "python3 run.py --fast"]', "run.py"),
        ('command = ["sh", "-c", "cat <run.py>out;exit"]', "run.py"),
        ('command = ["sh", "-c", "cd .callboard && ./run.sh"]', ".callboard/run.sh"),
        ('command = ["sh", "-c", "exec \'my run.sh\' --fast"]', "my run.sh"),
        ('command = ["sh", "-c", "exec python3 -m serve"]', "serve.py"),
        ('command = ["sh", "-c", "make serve || true"]', "Makefile"),
        ('command = ["env", "-S", "python3 run.py"]', "run.py"),
        ('command = ["bash", "-lc", "sh -c \\"./run.sh $X\\""]', "run.sh"),
    ],
)
def test_trust_ends_when_a_started_file_changes(tmp_path: Path, settings: str, changed: str):
    """X2, X3: programs, scripts, modules, files in variables, and files of the start folder."""
    write_folder(tmp_path, f'[[servers]]\ntransport = "stdio"\nname = "x"\n{settings}\n')
    (tmp_path / "link").symlink_to("target")
    (tmp_path / changed).write_text("before\n")
    before = digest(tmp_path)

    (tmp_path / changed).write_text("after\n")

    assert digest(tmp_path) != before
    (tmp_path / changed).write_text("before\n")
    assert digest(tmp_path) == before


def test_trust_ends_when_a_link_or_value_changes(tmp_path: Path):
    """X3"""
    text = '[[servers]]\ntransport = "stdio"\nname = "x"\ncommand = ["./link"]\nenv = { A = "1" }\n'
    write_folder(tmp_path, text, one="same\n", two="same\n")
    (tmp_path / "link").symlink_to("one")
    before = digest(tmp_path)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("two")
    other = digest(tmp_path)
    write_folder(tmp_path, text.replace('"1"', '"2"'))

    assert len({before, other, digest(tmp_path)}) == 3


def test_a_lasting_approval_ends_when_the_program_changes(tmp_path: Path):
    """X2: agents can change the program, and it starts outside the sandbox."""
    command, script = ("python3", "agent.py"), tmp_path / "agent.py"
    script.write_text("before\n")
    asking = context(folder=str(tmp_path))
    bound = bind(command, {}, str(tmp_path), "/usr/bin:/bin")
    first = external_starts.evaluate_start(command, asking, bound)
    assert first.binding is not None
    approved = rule("allow", first.matchers["workspace"], "workspace")
    ruled = context(folder=str(tmp_path), rules=(declare(approved, first.binding.declared),))

    again = external_starts.evaluate_start(command, ruled, bind(command, {}, str(tmp_path), "/usr/bin:/bin"))
    script.write_text("after\n")
    changed = external_starts.evaluate_start(command, ruled, bind(command, {}, str(tmp_path), "/usr/bin:/bin"))
    written = external_starts.evaluate_start(command, context(folder=str(tmp_path), rules=(approved,)), bound)

    assert (first.verdict, again.verdict, changed.verdict, written.verdict) == ("ask", "allow", "ask", "ask")
    assert f"Changed since you approved it: {script}" in changed.prompt
    assert f"runs {script} (sha256 " in first.preview
    assert f"Agents can change {script}" in written.prompt


def test_an_agents_command_cannot_set_loader_variables(tmp_path: Path):
    """X3"""
    denied = external_starts.evaluate_start(
        ("env", "NODE_OPTIONS=--require ./x.js", "codex-acp"), context(folder=str(tmp_path))
    )

    assert (denied.verdict, denied.code, "NODE_OPTIONS" in denied.message) == ("deny", "policy_denied", True)


def declare(approved: Rule, declared: str) -> Rule:
    return msgspec.structs.replace(approved, declared=declared)
