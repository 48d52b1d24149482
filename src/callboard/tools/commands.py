"""Shell commands as text: whether a command is a single plain one, and what its parts begin with.

Reading a shell command without running it is guesswork. So it is used one way only: what looks plain may be let through by a
prefix, and where there is any doubt there is no prefix. A denial looks into every part that might be a command. What holds
a command in is the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: With any of these a command may be more than one program with its arguments.
_COMPOUND = re.compile(r"[;&|`$()<>\\\x00-\x08\x0a-\x1f\x7f]")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_BOUNDARY = re.compile(r"[;&|\n\r()`{}<>]|\$\(")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs whose first argument is what they do.
_WITH_SUBCOMMAND = _words(
    """apt apt-get brew bun bundle cargo composer conda docker dotnet gem gh git go gradle helm hatch kubectl mvn npm pnpm
    podman poetry rails rustup sbt swift systemctl terraform tox uv yarn"""
)
#: Programs that run what their arguments say: a prefix of them would allow everything.
_RUNS_ARGUMENTS = _words(
    """ash awk bash builtin busybox chroot command coproc csh dash deno doas emacs env eval expect fish find flock gawk gdb
    git-shell ionice ksh make mawk nc ncat nice nohup npx nsenter osascript parallel php pip pip3 pipx pwsh rsync
    run-parts script sed setpriv setsid sh socat source ssh stdbuf strace su sudo tar taskset tclsh time timeout trap
    unshare vi vim watch xargs zsh"""
)
#: They only lead up to the command that follows.
_LEADS = _words(
    """! bash builtin command coproc dash do doas elif else env eval exec if nice nohup setsid sh stdbuf sudo then time timeout
    until while xargs zsh"""
)
_DESTRUCTIVE = _words(
    """chgrp chmod chown dd doas fdisk kill killall mkfs mount pkill reboot rm rmdir shred shutdown su sudo truncate umount
    wipefs"""
)


def is_plain(command: str) -> bool:
    """True where the command is one program with its arguments: no list, pipe, expansion, redirection or second line."""
    return bool(command.strip()) and _COMPOUND.search(command) is None


def prefix(command: str) -> str:
    """The words of a plain command that a rule may let through with any arguments, or the empty text where none are safe."""
    if not is_plain(command):
        return ""
    words = command.split(" ")
    first = words[0]
    if _PLAIN_WORD.fullmatch(first) is None or first == "exec" or _runs_arguments(first):
        return ""
    if first not in _WITH_SUBCOMMAND:
        return first
    taken = 3 if len(words) > 2 and words[1] in {"run", "exec"} else 2
    said = words[:taken]
    plain = all(_PLAIN_WORD.fullmatch(word) is not None and not _runs_arguments(word) for word in said[1:])
    return " ".join(said) if len(said) > 1 and plain and said[-1] not in {"run", "exec", "dlx"} else ""


def parts(command: str) -> Iterator[str]:
    """Everything in the command that might be a command of its own, without quotes and without what only leads up to it."""
    yield command.strip()
    bare = re.sub(r"[\"'\\]", "", command)
    for text in {*_BOUNDARY.split(command), *_BOUNDARY.split(bare)}:
        words = text.split()
        while words:
            yield " ".join(words)
            name = words[0].rpartition("/")[2]
            if name != words[0]:
                yield " ".join([name, *words[1:]])
            if not (name in _LEADS or _ASSIGNMENT.match(words[0]) or words[0].startswith("-") or _is_count(words[0])):
                break
            words = words[1:]


def destroys(command: str) -> bool:
    """True where some part of the command looks as if it took things away or reached for more rights."""
    names = {part.split()[0] for part in parts(command) if part}
    return bool(names & _DESTRUCTIVE) or any(name.startswith("mkfs") for name in names)


def _runs_arguments(word: str) -> bool:
    return word in _RUNS_ARGUMENTS or re.match(r"python|pypy|ruby|perl|lua|node", word) is not None


def _is_count(word: str) -> bool:
    return re.fullmatch(r"[0-9.]+[smhd]?", word) is not None
