"""Tables of how programs use their arguments."""

from __future__ import annotations

import re


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs whose first argument after options is a subcommand.
WITH_SUBCOMMAND = _split_words(
    """apt apt-get brew bun bundle cargo composer conda docker dotnet gem gh git glab go gradle helm hatch jj kubectl mvn nix
    npm nx pdm pip pipenv pnpm podman poetry rails rustup sbt swift systemctl terraform tox uv yarn"""
)
#: Shells: an argument or the input is a script.
SHELLS = _split_words(
    "ash bash busybox csh dash elvish fish ksh mksh nu oksh pwsh rbash sh source tcsh yash zsh . xonsh"
)
#: Programs that start the program in their arguments, after their options.
LAUNCHERS = _split_words(
    """at batch builtin bunx bwrap caffeinate catchsegv chroot chrt chpst command coproc cpulimit daemonize dbus-launch
    dbus-run-session doas dtach entr env exec expect faketime fakechroot fakeroot fd fdfind find firejail flock
    gdb gosu gfind hyperfine ionice just ld.so ltrace mosh nc ncat nice nohup nsenter numactl osascript parallel perf
    pkexec pipx prlimit proot rlwrap rr rsync run-parts runuser script setarch setpriv setsid socat softlimit ssh ssh-agent
    start-stop-daemon stdbuf strace su sudo systemd-run task taskset time timeout tini tmux tsocks unbuffer unshare
    valgrind watch watchexec watchman xargs xvfb-run npx uvx pnpx screen torsocks proxychains proxychains4"""
)
#: Launchers that start a program only after one of these options.
EXEC_OPTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("find", "gfind"), _split_words("-exec -execdir -ok -okdir")),
    **dict.fromkeys(("fd", "fdfind"), _split_words("-x -X --exec --exec-batch")),
}
#: Programs that take some arguments from a list of files or from their input.
FED_ARGUMENTS = _split_words("fd fdfind find gfind parallel xargs")
#: Programs whose joined arguments are a script.
EVALUATORS = _split_words("alias eval trap bind compgen complete mapfile readarray")
#: Programs that run code from their input.
READS_CODE = re.compile(
    r"(?:python|pypy|ruby|perl|lua|node|deno|bun|php|tclsh|irb|Rscript|R|psql|g?make|bmake)(?:[0-9.]*)"
)
#: Programs that run code of their language from an argument.
INTERPRETERS = re.compile(
    r"(?:python|pypy|ruby|perl|lua|node|deno|bun|php|tclsh|wish|osascript|g?awk|mawk|nawk|sed|gsed|ed|ex|vi|vim|nvim|view|emacs"
    r"|irb|ghci|guile|jshell|groovy|julia|Rscript|R|octave|sqlite3|psql|mysql|gdb|lldb|jq|m4|make|gmake|bmake|cmake|ninja|ant"
    r"|pip|rake|scons|meson|bazel|erl|elixir|racket|scheme|swipl|bc|dc|gnuplot|tar|gtar|bsdtar|zip|git-shell|scp|sftp|ftp|less"
    r"|more|man|most|rg|sort|split|openssl|nmap|tcpdump|crontab|msfconsole|expect|dd"
    r"|ocaml|sbcl|clisp|ecl|csi|gosh|gjs|qjs|luajit|iex|escript|java|scala|kotlin|clojure|clj|bb|dart|raku|tcc)(?:[0-9.]*)"
)
#: Programs with an option that names a program to start, such as `gcc -wrapper`.
NAMING_PROGRAMS = _split_words("ansible ansible-playbook c++ cc clang clang++ cpp g++ gcc gfortran ld rustc rustdoc")
#: Subcommands of git that start a program from an option, a setting or an address (`ext::…`).
NAMING_GIT = _split_words(
    """archive clone config cvsimport fetch fetch-pack grep help imap-send init instaweb ls-remote maintenance p4 pull push
    remote send-email send-pack svn upload-archive web--browse"""
)
#: Subcommands that run the rest of their arguments.
RUNNING_SUBCOMMANDS = _split_words(
    "run exec x dlx shell bisect foreach filter-branch submodule rebase difftool mergetool daemon env"
)
#: Running subcommands whose next argument after options is the program.
STARTING_SUBCOMMANDS = _split_words("run exec x dlx")
#: Programs whose `run` names a task or a tool, which is part of the prefix.
NAMED_RUNS = _split_words("bun hatch npm pdm pipenv pnpm poetry uv yarn")
#: Programs that delete things or grant more rights.
DESTRUCTIVE = _split_words(
    """chgrp chmod chown dd doas fdisk kill killall mkfs mount pkill reboot rm rmdir shred shutdown su sudo truncate umount
    unlink wipefs"""
)


def can_run_arguments(program: str) -> bool:
    """Return True for a program that may run its arguments, so that no prefix of it is safe."""
    named = SHELLS | LAUNCHERS | EVALUATORS | NAMING_PROGRAMS
    return program in named or INTERPRETERS.fullmatch(program) is not None


def is_destructive(program: str) -> bool:
    """Return True for a program that deletes things or grants more rights."""
    return program in DESTRUCTIVE or program.startswith("mkfs")
