"""Rules that deny a command, for every spelling of the command (X8)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from callboard.contracts.facts.permission import Rule
from callboard.tools.gate.rules import Target, find_rule, offer_matcher
from callboard.tools.shell_grammar.parser import MAX_TEXT_CHARS, SimpleCommand, parse
from callboard.tools.shell_grammar.prefix import find_prefix

DENY = Rule(rule_id="rul_1", matcher="Bash(git push *)", verdict="deny", scope="user_settings")
#: Each runs `git push` in bash, as a test checks.
RUN = [
    *(
        "git push",
        "git push origin main",
        "git  push",
        "git\tpush",
        " git push",
        "git push;",
        "git push&",
        "git push #x",
    ),
    *("git -C . push", "git --git-dir .git push", "git --no-pager push", "git -c a.b=c push", "git -c a.b=c -C . push"),
    *("'git' push", '"git" push', "g''it push", 'g"i"t push', r"g\it push", r"\git push", "git 'push'", "git pu'sh'"),
    *(
        r"$'git' push",
        r"$'\x67it' push",
        r"git $'\160ush'",
        '$"git" push',
        "git \\\n push",
        "gi\\\nt push",
        "git\\\n push",
    ),
    *("A=1 git push", "A=1 B=2 git push", "env git push", "env -u A git push", "env -i RAN=$RAN PATH=$PATH git push"),
    *(
        "env A=1 git push",
        "command git push",
        "exec git push",
        "exec -a x git push",
        "nice git push",
        "nice -n 5 git push",
    ),
    *("nohup git push", "timeout 9 git push", "timeout -k 1 9 git push", "setsid -w git push", "stdbuf -o L git push"),
    *("time git push", "time -p git push", "! git push", "(git push)", "{ git push; }", "((1)); git push"),
    *(
        "true && git push",
        "false || git push",
        "true; git push",
        "true\ngit push",
        "true & git push",
        "true | git push",
    ),
    *(
        "if true; then git push; fi",
        "if git push; then :; fi",
        "while git push; do break; done",
        "until git push; do :; done",
    ),
    *(
        "for i in 1; do git push; done",
        "case a in a) git push;; esac",
        "f(){ git push; }; f",
        "function f { git push; }; f",
    ),
    *("echo $(git push)", "echo `git push`", 'echo "$(git push)"', "echo ${x:-$(git push)}", "cat <(git push)"),
    *("x=$(git push)", "export x=$(git push)", "[[ -z $(git push) ]]", "(( $(git push) 0 ))", "a[$(git push)]=1"),
    *(
        "git push > o",
        "git push 2>&1",
        "> o git push",
        "< /dev/null git push",
        "git push <<< x",
        "cat <<E\n$(git push)\nE",
    ),
    *("sh -c 'git push'", 'bash -c "git push"', "bash -ec 'git push'", "sh -c 'true; git push'", "bash -c $'git push'"),
    *("eval git push", "eval 'git push'", 'eval "git" "push"', "sh <<< 'git push'", "sh <<E\ngit push\nE"),
    *("echo git push | sh", "echo 'git push' | bash", "printf 'git push' | sh -s", "cat <<E | sh\ngit push\nE"),
    *(
        "find . -maxdepth 0 -exec git push \\;",
        "find . -maxdepth 0 -execdir git push {} +",
        "find . -maxdepth 0 -exec sh -c 'git push' \\;",
    ),
    *(
        "echo push | xargs git",
        "echo x | xargs git push",
        "echo x | xargs -n 1 git push",
        "echo x | xargs -I{} git push {}",
    ),
    *("env -S 'git push'", "env bash -c 'env -u A git -C . push'", "coproc git push; wait", "trap 'git push' EXIT"),
    *("shopt -s expand_aliases\nalias g='git push'\ng", "source <(echo git push)", ". /dev/stdin <<< 'git push'"),
    *(
        "python3 -c 'import os; os.system(\"git push\")'",
        "python3 -c \"import subprocess as s; s.run(['git', 'push'])\"",
    ),
    *(
        "perl -e 'system(\"git push\")'",
        "awk 'BEGIN { system(\"git push\") }'",
        "g=git; $g push",
        "p=push; git $p",
        "g{i,}t push",
    ),
    *('set -- git push; "$@"', "$(echo git) push", 'a=(git push); "${a[@]}"', "base64 -d <<< Z2l0IHB1c2gK | sh"),
    *("echo t push | tr -d ' ' >/dev/null; x=gi; ${x}t push", "X='git push' sh -c '$X'"),
]
#: Each starts `git push` through a program that not every machine has.
ALIKE = [
    *("sudo git push", "sudo -u a git push", "doas git push", "xvfb-run git push", "parallel git push ::: a"),
    *(
        "ssh host git push",
        "ssh host 'cd a; git push'",
        "su -c 'git push'",
        "script -c 'git push' /dev/null",
        "watch git push",
    ),
    *(
        "flock f git push",
        "ionice -c 3 git push",
        "strace -f git push",
        "unshare -r git push",
        "busybox sh -c 'git push'",
    ),
    *(
        "/usr/bin/git push",
        "/usr/bin/env git push",
        "./git push",
        "fd . -x git push",
        "npx --yes git push",
        "zsh -c 'git push'",
    ),
]
#: Each starts `git push` through a program's subcommand, input or variable.
ALIKE += [
    *("uv run git push", "npm exec -- git push", "docker exec c git push", "docker run --rm i sh -c 'git push'"),
    *("kubectl exec p -- git push", "git submodule foreach git push", "git submodule foreach --recursive 'git push'"),
    *(
        "git bisect run git push",
        "git rebase --exec 'git push' a",
        "git rebase -x'git push' a",
        "conda run -n e git push",
    ),
    *("GIT_SSH_COMMAND='git push' git fetch", "git -c core.pager='git push' log", "PROMPT_COMMAND='git push' bash -i"),
    *("export GIT_PAGER='git push'", "mapfile -C 'git push' -c 1 < f", "compgen -C 'git push'", "pwsh -c git push"),
    *("tar cf a --checkpoint-action=exec='git push' b", "make -f - <<< 'x:;git push'"),
    "python3 <<'EOF'\nimport os\nos.system('git push')\nEOF",
    "python3 - <<EOF\nsubprocess.run(['git', 'push'])\nEOF",
    "echo \"os.system('git push')\" | python3",
    "perl <<< 'system(\"git push\")'",
]
NEITHER = [
    *(
        "git status",
        "git log --grep push",
        "echo git push",
        "git commit -m 'git push'",
        "ls push",
        "git stash",
        "grep 'git push' a",
    ),
    *(
        "git pushx",
        "gitpush",
        "cat git push",
        "find . -name push",
        "make push",
        "x=push",
        "# git push",
    ),
    *(
        "find . -name git -o -name push",
        "python3 x.py push",
        'for f in *.py; do wc -l "$f"; done',
        "echo $HOME",
        "source .venv/bin/activate",
    ),
    *("uv run pytest -k push", "git submodule update --init", "git rebase main", "docker run --rm alpine ls"),
    *("python3 - <<EOF\nprint('push')\nEOF", "git commit --message='git push'", "GIT_AUTHOR_NAME='A B' git commit"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a `git` that records its arguments."""
    root = tmp_path_factory.mktemp("spellings")
    program = root / "bin" / "git"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor word; do [ "$word" = push ] && echo push >> "$RAN"; done\nexit 0\n')
    program.chmod(0o755)
    return root


def shell(command: str) -> Target:
    return Target(tool="Bash", command=command)


def verdict(command: str) -> str:
    applied = find_rule([DENY], shell(command))
    return applied.verdict if applied is not None else "none"


@pytest.mark.parametrize("command", RUN)
def test_every_spelling_of_a_denied_command_is_denied(command: str, folder: Path, tmp_path: Path) -> None:
    """X8: bash runs it, and the rule denies it or requires approval."""
    ran = tmp_path / "ran"
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "RAN": str(ran), "HOME": str(tmp_path)}
    subprocess.run(["bash", "-c", command], env=environment, cwd=tmp_path, capture_output=True, timeout=60, check=False)

    assert ran.exists()
    assert verdict(command) in ("deny", "ask")


@pytest.mark.parametrize("command", ALIKE)
def test_a_denied_command_behind_a_launcher_is_denied(command: str) -> None:
    """X8"""
    assert verdict(command) == "deny"


@pytest.mark.parametrize("command", NEITHER)
def test_a_denying_rule_does_not_match_other_commands(command: str) -> None:
    """X8"""
    assert verdict(command) == "none"


def test_a_command_that_only_the_shell_can_expand_asks() -> None:
    """X8: an expansion is the program or the subcommand, or another program writes the script."""
    assert [command for command in RUN if verdict(command) == "ask"] == [
        "echo push | xargs git",
        "g=git; $g push",
        "p=push; git $p",
        "g{i,}t push",
        'set -- git push; "$@"',
        "$(echo git) push",
        'a=(git push); "${a[@]}"',
        "base64 -d <<< Z2l0IHB1c2gK | sh",
        "echo t push | tr -d ' ' >/dev/null; x=gi; ${x}t push",
        "X='git push' sh -c '$X'",
    ]


@pytest.mark.parametrize(
    "command",
    [
        "git -c alias.p=push p",
        "git config alias.p push",
        "git config --global alias.p push",
        "gh alias set p '!git push'",
        "parallel git ::: push",
        "uv run $X",
    ],
)
def test_an_alias_or_a_program_in_an_argument_asks(command: str) -> None:
    """X8: a command that uses an alias does not contain its value."""
    assert verdict(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "env pytest",
            "xargs ls",
            "find . -name x",
            "git bisect run make",
            "git submodule foreach ls",
            "docker run a b",
        ),
        *(
            "kubectl exec a b",
            "rg --pre cat x",
            "sort a",
            "tar cf a b",
            "less a",
            "make test",
            "just build",
            "watchexec ls",
        ),
        *(
            "systemd-run ls",
            "perf stat ls",
            "valgrind ls",
            "uvx ruff",
            "go run x.go",
            "cargo run",
            "psql -c x",
            "sqlite3 a b",
        ),
        *("ssh-agent ls", "git rebase -x make", "fd -x rm", "entr ls", "at now", "crontab x", "gdb a"),
    ],
)
def test_no_prefix_is_offered_for_a_program_that_runs_its_arguments(command: str) -> None:
    """X8: a lasting approval covers exactly this command."""
    assert find_prefix(command) == ""
    assert offer_matcher(shell(command)) == f"Bash({command})"


@pytest.mark.parametrize(
    "text", ["(" * 20_000, "$(" * 5_000, "a" * (MAX_TEXT_CHARS + 1), "\0", "\ud800", "<<" * 900, "'"]
)
def test_an_invalid_command_asks_without_delay(text: str) -> None:
    """X8"""
    assert not parse(text).is_complete or len(text) == 1
    assert verdict(text) in ("ask", "none")


#: Each once took a second or more to parse, with its nested scripts.
SLOW = [
    "a=(" * 10_000,
    "$[" * 16_000,
    "<<E\n" * 8_000,
    "case x in (" * 2_900,
    "[[ && x " * 4_000,
    "env " + "eval env " * 40,
]


@pytest.mark.parametrize(
    "text", [*SLOW, "env " + "eval env " * 3_000, "sh " * 10_000, "env " + "nice " * 6_000, "uv run " * 4_000]
)
def test_a_text_that_is_slow_to_parse_asks_quickly(text: str) -> None:
    """X8: the test measures CPU time, because the machine may be busy."""
    start = time.thread_time()

    assert verdict(text) in ("ask", "deny")
    assert time.thread_time() - start < 0.5


def test_a_denied_command_deep_in_launchers_is_denied_quickly() -> None:
    """X8: a script that occurs several times is parsed once."""
    start = time.thread_time()

    assert verdict("env " + "eval env " * 20 + "git push") == "deny"
    assert time.thread_time() - start < 0.5


@pytest.mark.parametrize("word", ["übung", "𝄞", "a\u00a0b", "\x02", "\U000f8ec3", "名前"])
def test_a_non_ascii_word_is_parsed_as_in_bash(word: str) -> None:
    """X8: the parser receives only ASCII. Other characters make its scanner corrupt memory."""
    assert parse(f"git push {word}; rm '{word}'").commands == (
        SimpleCommand(("git", "push", word)),
        SimpleCommand(("rm", word)),
    )


def test_no_text_crashes_the_parser() -> None:
    """X8: a crash of the scanner would end its process, so this runs in a separate one."""
    code = (
        "import random\nfrom callboard.tools.shell_grammar.parser import parse\nchance = random.Random(1)\n"
        "marks = list(';&|$(){}<>`\\\\\\n\\t\\x02') + ['$((', '<<', '[[', '\\U0004274d', '\\U000f8ec3', 'a']\n"
        "for _ in range(20000): parse(''.join(chance.choices(marks, k=chance.randrange(14))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
